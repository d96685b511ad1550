/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Properties of each publisher of code events: how rich and how exact its reports are. */
#ifndef JITBPF_STATE_CODE_CODE_PUBLISHER_H
#define JITBPF_STATE_CODE_CODE_PUBLISHER_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/code_event.h"

struct code_publisher {
	/* If two publishers describe the same code, the higher rank decides. */
	uint32_t rank;
	/* Bound on the difference between the times of its loads and the exact times. */
	uint64_t time_error_ns;
	bool needs_id; /* a load without a method id is invalid */
	/*
	 * Its reports are late: code may run before its load is reported, and its memory may have
	 * other code before its end is reported (unwind/code/code_successors.h).
	 */
	bool late;
	/*
	 * It reports the end of all its code. Events of the side-band do not put its code in doubt,
	 * and a doubt that no report confirms ends (unwind/code/code_checks.h).
	 */
	bool reports_ends;
	/*
	 * A garbage collector moves objects whose addresses are immediates of the code, and call
	 * sites are written again and again.
	 */
	bool objects_move;
	bool journaled; /* its events have one count per process, and a journal */
	/*
	 * Nobody reports the end of its code. Words of memory tell the code from what takes its
	 * place; they are read again for each sample that is newer (unwind/code/code_checks.h).
	 */
	bool identified;
};

static inline const struct code_publisher *code_publisher_of(enum jitbpf_publisher publisher)
{
	static const struct code_publisher publishers[JITBPF_PUBLISHER_COUNT] = {
		/* Inlined methods and lines; the time is that of the engine's report. */
		[JITBPF_PUBLISHER_SHIM] = {.rank = 3, .needs_id = true, .journaled = true},
		/* Lines; engines take the time somewhat before or after they write the code. */
		[JITBPF_PUBLISHER_JITDUMP] = {.rank = 2, .time_error_ns = 10000000},
		/* Names only; the time is that of the reader's poll. */
		[JITBPF_PUBLISHER_PERF_MAP] = {.rank = 1, .time_error_ns = 3000000000},
		/* Scope tables; the time is that of a report by a thread of the virtual machine. */
		[JITBPF_PUBLISHER_JVMTI] = {.rank = 4,
					    .time_error_ns = 1000000000,
					    .late = true,
					    .reports_ends = true,
					    .objects_move = true,
					    .journaled = true},
		/* What a virtual machine knows of its code; never merged. */
		[JITBPF_PUBLISHER_FOUND] = {.objects_move = true, .identified = true},
	};

	return &publishers[publisher];
}

#endif
