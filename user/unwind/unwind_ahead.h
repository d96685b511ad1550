/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests rows ahead of a walk. A walk needs the rows of one frame after the other, and each
 * request takes a round: the first samples of a process would be cut before the last rows are made.
 * So words of a stack copy that can be return addresses count as frames, and rows of their code are
 * requested at once. At worst, the rows are of code that no walk needs. So files are left out in
 * which no walk was yet: to open a file takes longer than to make rows of a page, and most words
 * that only look like return addresses are in others than those of the stack.
 */
#ifndef JITBPF_UNWIND_UNWIND_AHEAD_H
#define JITBPF_UNWIND_UNWIND_AHEAD_H

#include "unwind/unwinder_state.h"

#define UNWIND_AHEAD_MAX 16 /* requests for one stack */

/*
 * Request rows for the words of a sample's stack copy, innermost first. The owner of the process
 * keeps half of its requests for walks.
 */
void unwind_ask_ahead(struct unwinder *unwinder, const struct process *process,
		      const struct jitbpf_sample *sample, const struct jitbpf_stack_copy *copy);

#endif
