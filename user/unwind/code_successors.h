/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides whether a sample saw the code that was in force at its address and time, or the code that
 * took its place.
 *
 * A virtual machine frees code, and puts other code there, before one of its threads reports the
 * end of the one and the load of the other, from one queue. Until the end is reported, the earlier
 * code is in force. If the thread was late, so that new code ran before, both reports wait in the
 * queue, and come soon after each other.
 *
 * So a sample of code whose end comes after it may be of a successor that was reported within
 * CODE_SUCCESSOR_NS of the sample. The bytes around the innermost frame are compared with both; for
 * a caller, each of both has a call before the return address or not. The frame's code is unknown
 * if the successor is possible, and the code that ended is impossible, or both are and their
 * reports came within CODE_REPORTS_NS.
 */
#ifndef JITBPF_UNWIND_CODE_SUCCESSORS_H
#define JITBPF_UNWIND_CODE_SUCCESSORS_H

#include <stdbool.h>
#include <stdint.h>

#include "state/code/code_map.h"
#include "state/process/process_table.h"
#include "uapi/record.h"
#include "unwind/code_copies.h"

/*
 * Time from a sample to the report of its code: 50 ms for 99 of 100 loads, and longer on a busy
 * machine. Half of INTAKE_DEFER_NS.
 */
#define CODE_SUCCESSOR_NS 500000000ull

/*
 * Time from the report of an end to that of a load behind it in the queue. A report takes 0.1 ms.
 */
#define CODE_REPORTS_NS 10000000ull

/*
 * Frames are not looked up in a process of which more code has ended in the last two seconds: each
 * look-up goes through all of it. A JVM that frees all its code at once has a few thousand.
 */
#define CODE_ENDED_MAX 8192

/* Returns true if frames of a process are looked up. */
static inline bool code_has_successors(const struct process *process)
{
	return process->code && code_map_history(process->code) <= CODE_ENDED_MAX;
}

/* A frame of a sample. */
struct sampled_frame {
	uint64_t address; /* of a caller: that of the last byte of its call */
	uint64_t time_ns;
	const struct jitbpf_code_bytes *seen; /* the memory around it; NULL: not known */
	bool is_caller;
};

/*
 * Returns true if a frame of a process may be in the successor of the code that was in force at its
 * address and time.
 */
bool code_successor_is_possible(struct code_copies *copies, const struct process *process,
				const struct sampled_frame *frame);

#endif
