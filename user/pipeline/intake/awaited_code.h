/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code that may not be reported yet. Loads of some publishers are late (code_map_is_late()). A
 * sample of such a process with a frame in anonymous memory without code waits, since a later load
 * may apply to it.
 */
#ifndef JITBPF_PIPELINE_INTAKE_AWAITED_CODE_H
#define JITBPF_PIPELINE_INTAKE_AWAITED_CODE_H

#include "unwind/unwinder.h"

/* Returns true if samples of a process may have to wait; false if process is NULL. */
bool awaited_code_is_possible(const struct process *process);

/* Returns true if code at an address may still be reported, for a sample of time_ns. */
bool awaited_code_is_missing(const struct process *process, uint64_t address, uint64_t time_ns);

/*
 * Returns the address of the first frame whose code may still be reported, in a stack that may be
 * incomplete; 0: there is none.
 */
uint64_t awaited_code_find(const struct process *process, const struct finished_stack *stack,
			   uint64_t time_ns);

#endif
