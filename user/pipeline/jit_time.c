/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/jit_time.h"

#include "decode/record/jit_event.h"

#define SLACK_NS 10000000000ull

bool jit_time_is_plausible(uint64_t event_ns, uint64_t hit_ns)
{
	return event_ns <= hit_ns && hit_ns - event_ns <= SLACK_NS;
}

uint64_t jit_time(const struct jitbpf_jit *jit)
{
	struct jitbpf_jit_header header;

	if (jit_part_decode(jit->data, jit->data_bytes, &header))
		return jit->h.time_ns;
	/* The reader of the journal has checked that the time is plausible. */
	if (jit->h.flags & JITBPF_JIT_FROM_JOURNAL)
		return header.time_ns < jit->h.time_ns ? header.time_ns : jit->h.time_ns;
	if (!jit_time_is_plausible(header.time_ns, jit->h.time_ns))
		return jit->h.time_ns;
	return header.time_ns;
}
