/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The walk of one stack in user space, over its copy. */
#ifndef JITBPF_UNWIND_STACK_WALK_H
#define JITBPF_UNWIND_STACK_WALK_H

#include "unwind/unwinder_state.h"

/*
 * Continue the walk where the kernel stopped, or where *wait stopped (unwinder_finish()). Returns 0
 * with *ret set, UNWIND_RULE_WAITS with *wait set if rows are pending and last is false, or
 * -ENOMEM.
 */
int stack_walk(const struct unwind_account *account, const struct jitbpf_sample *sample,
	       const struct jitbpf_stack_copy *copy, bool last, struct unwind_wait *wait,
	       struct finished_stack *ret);

#endif
