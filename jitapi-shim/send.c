/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/send.h"

#include <time.h>

#include "jitapi-shim/journal.h"
#include "jitapi-shim/probe.h"

/*
 * The precise clock reads the time stamp counter, which SECCOMP_MODE_STRICT forbids, and is a
 * system call on a clock source that the vDSO cannot read. The coarse one is neither. The order of
 * events is enough for a profiler that attaches later.
 */
static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(probe_attached() ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

bool send_wanted(void)
{
	return journal_wanted() || probe_attached();
}

void send_begin(struct record *record, uint16_t event, const void *caller)
{
	record->field_count = 0;
	record->header = (struct jitbpf_jit_header){
		.version = JITBPF_JIT_VERSION,
		.event = event,
		.time_ns = now_ns(),
		.caller = (uintptr_t)caller,
	};
}

void send_record(struct record *record)
{
	journal_append(record);
	if (probe_attached())
		record_emit(record);
}
