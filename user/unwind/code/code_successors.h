/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides whether a sample saw the code that was in force at its address and time, or the code that
 * took its place.
 *
 * A virtual machine can free code and put other code in its place before it reports either change.
 * One of its threads sends both reports, the end and the load, from one queue. Until the end is
 * reported, the earlier code is in force. If the thread is late and the new code already runs, both
 * reports wait in the queue, and come soon after each other.
 *
 * So if code ends after a sample of it, the sample may be of a successor that was reported within
 * CODE_SUCCESSOR_NS of the sample. The two copies of code are compared with the bytes around the
 * innermost frame. For a caller, each is checked for a call before the return address. The frame's
 * code is unknown in two cases:
 * - Only the successor is possible.
 * - Both are possible, and the load was reported within CODE_REPORTS_NS of the end.
 */
#ifndef JITBPF_UNWIND_CODE_CODE_SUCCESSORS_H
#define JITBPF_UNWIND_CODE_CODE_SUCCESSORS_H

#include <stdbool.h>
#include <stdint.h>

#include "state/code/code_map.h"
#include "state/process/process_table.h"
#include "uapi/record.h"
#include "unwind/code/code_copies.h"

/*
 * Limit of the time from a sample to the report of its code. 99 of 100 loads are reported within 50
 * ms; on a busy machine it takes longer. Half of INTAKE_DEFER_NS.
 */
#define CODE_SUCCESSOR_NS 500000000ull

/*
 * Limit of the time from the report of an end to the report of a load behind it in the queue. One
 * report takes 0.1 ms.
 */
#define CODE_REPORTS_NS 10000000ull

/*
 * If more regions of a process are in history (two seconds), its frames are not checked: each
 * look-up passes all of them. A JVM that frees all its code at once has a few thousand regions.
 */
#define CODE_ENDED_MAX 8192

/* Returns true if frames of a process are checked for successors. */
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

/*
 * Returns true if a frame can be of code that was found in its place after the sample: the bytes
 * around the innermost frame are equal; a caller has a call before its return address.
 */
bool code_found_is_possible(struct code_copies *copies, const struct code_region *region,
			    const struct sampled_frame *frame);

#endif
