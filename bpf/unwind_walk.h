/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks a user stack by the tables in BPF maps, with the steps of bpf/unwind.h. If a table
 * lacks an entry, the walk stops and user space completes it.
 */
#ifndef JITBPF_BPF_UNWIND_WALK_H
#define JITBPF_BPF_UNWIND_WALK_H

#include "bpf/unwind_code.h"
#include "bpf/user_walk.h"

/*
 * Returns how the walk ends, after a step by a rule (the cfa of a row) that returned `end`. Global,
 * as search_mappings() is.
 */
__noinline int judge_end(struct user_walk *w, int end, __s32 rule)
{
	struct unwind_row row = {.cfa = rule};

	if (!w)
		return end;
	w->not_made = rule == UNWIND_CFA_COMMAND(UNWIND_NOT_MADE);
	if (w->by_frame_pointers)
		return unwind_judge_end(end, w->callers, w->state.sp, w->state.sp, w->stack_top,
					w->state.thread_pointer);
	return unwind_end(&w->state, row, end, w->callers, w->stack_top,
			  !(w->mapping.owner & UNWIND_OWNER_CODE));
}

/* Global, as search_mappings() is. */
__noinline int step_narrow(struct user_walk *w, __s32 cfa, __s32 rbp)
{
	struct unwind_row row = {.cfa = cfa, .rbp = (__s16)rbp};
	struct unwind_state state;
	int end;

	if (!w)
		return JITBPF_END_NO_RULE;
	state = w->state;
	end = unwind_step_narrow(&state, row);
	if (!end)
		w->state = state;
	return end;
}

/* Takes one step. Global, as search_mappings() is. */
__noinline int walk_frame(struct user_walk *w)
{
	struct unwind_row row = {.cfa = UNWIND_CFA_COMMAND(UNWIND_FRAME_POINTER)};
	struct unwind_state state;
	bool guesses, is_told = false;
	int end;

	if (!w)
		return JITBPF_END_NO_RULE;
	state = w->state;
	w->flags = 0;
	if (!w->by_frame_pointers) {
		row = find_row(w, state.ip - state.is_caller);
		if (!is_in_file(w, state.ip - state.is_caller)) {
			w->flags = KEPT_CODE;
			w->code = w->code ?: state.ip - state.is_caller;
			if (!state.narrow &&
			    (has_no_rule(row) || row.cfa == UNWIND_CFA_COMMAND(UNWIND_UNKNOWN)))
				is_told = set_frame_row(w, &row);
			if (state.is_caller && !state.narrow && !is_told && has_no_rule(row))
				set_thunk_row(state.ip, &row);
			if (row.cfa == UNWIND_CFA_COMMAND(UNWIND_FRAME_POINTER) && !state.narrow)
				is_told = set_compiled_row(w, &row) || is_told;
		}
	}
	if (!w->callers)
		w->leaf_rule = row.cfa;
	guesses = row.cfa == UNWIND_CFA_COMMAND(UNWIND_FRAME_POINTER);
	if (guesses)
		w->flags |= KEPT_GUESSED;
	if (state.narrow) {
		end = step_narrow(w, row.cfa, row.rbp);
		if (!end && guesses && !can_return_to(w->state.ip)) {
			w->state = state;
			end = JITBPF_END_BAD_FRAME;
		}
	} else {
		end = unwind_step(&state, row);
		if (!end && (guesses || is_told) && !can_return_to(state.ip))
			end = JITBPF_END_BAD_FRAME;
		if (!end)
			w->state = state;
	}
	if (end)
		return judge_end(w, end, row.cfa);
	w->callers++;
	return UNWIND_STEPPED;
}

static __always_inline void begin_walk(struct user_walk *w, __u32 pid, const struct pt_regs *user,
				       __u64 stack_top, __u64 thread_pointer)
{
	struct unwind_process *process;

	/*
	 * Read before any look-up: if a page is removed during this walk, later walks must not
	 * reuse its callers.
	 */
	w->removals = *(volatile __u64 *)&unwind_removals;
	process = bpf_map_lookup_elem(&unwind_processes, &pid);
	w->state = (struct unwind_state){
		.ip = user->ip, .sp = user->sp, .bp = user->bp, .thread_pointer = thread_pointer};
	w->pid = pid;
	w->stack_top = stack_top;
	w->thread_pointer = thread_pointer;
	w->mapping.start = w->mapping.end = 0;
	w->callers = 0;
	w->by_frame_pointers = false;
	w->not_made = false;
	w->first = w->count = 0;
	w->code = 0;
	w->kept_at = KEPT_MAX;
	w->reused = 0;
	w->leaf_rule = UNWIND_CFA_COMMAND(UNWIND_NOT_MADE);
	w->pid = pid;
	w->leaf_enters = 0;
	w->lacks_recipe = 0;
	w->frames_start = w->frames_end = 0;
	if (process && process->stack_top == w->stack_top) {
		w->first = process->first;
		w->count = process->count;
		w->known_ns = process->known_ns;
	}
}

/* Continues begin_walk() for 32-bit code. */
static __always_inline void narrow_walk(struct unwind_state *s, __u64 thread_pointer)
{
	s->ip = (__u32)s->ip;
	s->sp = (__u32)s->sp;
	s->bp = (__u32)s->bp;
	s->thread_pointer = thread_pointer;
	s->narrow = true;
}

/* Returns the age of the mappings at time_ns, from 1 to the largest __u32. */
static __always_inline __u32 mappings_age_ns(const struct user_walk *w, __u64 time_ns)
{
	__u64 age_ns = time_ns > w->known_ns ? time_ns - w->known_ns : 1;

	return age_ns < (__u32)-1 ? age_ns : (__u32)-1;
}

#endif
