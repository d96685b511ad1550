/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the code map knows about each publisher of code events: how rich and how exact it is. */
#ifndef JITBPF_STATE_CODE_CODE_PUBLISHER_H
#define JITBPF_STATE_CODE_CODE_PUBLISHER_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/code_event.h"

struct code_publisher {
	/* The publisher with the higher rank decides where two describe the same code. */
	uint32_t rank;
	/* Bound on the difference between the times of its loads and the exact times. */
	uint64_t time_error_ns;
	bool needs_id; /* a load without a method id is invalid */
};

static inline const struct code_publisher *code_publisher_of(enum jitbpf_publisher publisher)
{
	static const struct code_publisher publishers[JITBPF_PUBLISHER_COUNT] = {
		/* Inlined methods, lines; its time is taken when the engine reports the code. */
		[JITBPF_PUBLISHER_SHIM] = {.rank = 3, .needs_id = true},
		/* Lines; engines take the time some while before or after the code is written. */
		[JITBPF_PUBLISHER_JITDUMP] = {.rank = 2, .time_error_ns = 10000000},
		/* Names only; the time is that of the reader's poll. */
		[JITBPF_PUBLISHER_PERF_MAP] = {.rank = 1, .time_error_ns = 3000000000},
	};

	return &publishers[publisher];
}

#endif
