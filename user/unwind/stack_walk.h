/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The walk of one stack in its copy: where it is, and what it has found. */
#ifndef JITBPF_UNWIND_STACK_WALK_H
#define JITBPF_UNWIND_STACK_WALK_H

#include "unwind/unwinder_state.h"

/* The copy that a sample has, NULL where it has none that is whole. */
const struct jitbpf_stack_copy *stack_copy_of(const struct jitbpf_sample *sample);

/*
 * Walk on from where the kernel stopped. Returns 0 with *ret set; UNWIND_RULE_WAITS, unless last;
 * or -ENOMEM.
 */
int stack_walk(const struct unwind_account *account, const struct jitbpf_sample *sample,
	       const struct jitbpf_stack_copy *copy, bool last, struct finished_stack *ret);

#endif
