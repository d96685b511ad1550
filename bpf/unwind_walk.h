/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks a user stack by the tables in BPF maps, with the steps of bpf/unwind.h. If a table
 * lacks an entry, the walk stops and user space completes it.
 */
#ifndef JITBPF_BPF_UNWIND_WALK_H
#define JITBPF_BPF_UNWIND_WALK_H

#include "bpf/call_site.h"
#include "bpf/compiled_frame.h"
#include "bpf/frame_code.h"
#include "bpf/runtime_ranges.h"
#include "bpf/unwind_maps.h"

#define unwind_read(dst, size, address) bpf_probe_read_user((dst), (size), (void *)(address))

#include "bpf/unwind_end.h"
#include "bpf/unwind_narrow.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_MAPPINGS_MAX);
	__type(key, __u32);
	__type(value, struct unwind_mapping);
} unwind_mappings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_ROWS);
	__type(key, __u32);
	__type(value, struct unwind_row);
} unwind_rows SEC(".maps");

#define unwind_mapping_at(index) bpf_map_lookup_elem(&unwind_mappings, &(index))
#define unwind_row_at(index)	 bpf_map_lookup_elem(&unwind_rows, &(index))

#include "bpf/unwind_search.h"

struct user_walk {
	struct unwind_state state;
	__u64 stack_top, thread_pointer;
	struct unwind_mapping mapping; /* of the last frame; often holds the next one, too */
	struct unwind_range range;     /* of a search */
	__u32 first, count;	       /* the process's mappings in their array; 0: none */
	__u64 known_ns;		       /* as in struct unwind_process */
	__u64 removals;		       /* unwind_removals as of the start */
	__u64 code;		       /* innermost pc outside of known files; 0: none */
	__u32 callers;		       /* found so far */
	__u16 by_frame_pointers;       /* instead of by tables */
	__u16 not_made;		       /* the walk stopped because a table lacks an entry */
	__u64 flags;		       /* of the last frame: KEPT_CODE, KEPT_GUESSED */
	__u32 kept_at;		       /* the next kept frame to meet; KEPT_MAX: none */
	__u32 reused;		       /* number of outermost callers that are the kept ones */
	__u64 kept_code;	       /* code, for the kept frames that were compared */
	__u32 kept_guessed;	       /* state.guessed, for the same frames */
	__s32 leaf_rule;	       /* cfa of the row of the innermost frame */
	__u32 pid;
	__u32 leaf_enters;		/* the innermost frame is not made yet, see frame_rule() */
	__u64 frames_start, frames_end; /* code that keeps frame pointers, met last */
	__u64 lacks_recipe;		/* of native frames */
	__u8 leaf_code[FRAME_CODE_BYTES];
	__u64 frame_words[RUNTIME_COMPILED_WORDS]; /* of a frame of compiled code */
};

/* See bpf/unwind_kept.h. */
#define KEPT_MAX	 JITBPF_USER_FRAMES_MAX
#define KEPT_GUESSED_BIT 62 /* the frame's caller was found by UNWIND_FRAME_POINTER */
#define KEPT_GUESSED	 (1ull << KEPT_GUESSED_BIT)
#define KEPT_CODE	 (1ull << 63) /* the frame is outside of known files */

/*
 * A global function, so that the verifier checks it once. Were its code part of a loop, or inlined
 * into its callers, the verifier would take seconds, or refuse the program. Calls can be nested at
 * most eight deep.
 */
__noinline int search_mappings(struct user_walk *w, __u64 pc)
{
	return w ? unwind_search_mappings(&w->range, pc, &w->mapping) : UNWIND_ABSENT;
}

/* A global function, as search_mappings() is. */
__noinline int search_rows(struct user_walk *w, __u32 offset)
{
	return w ? unwind_search_rows(&w->range, offset) : UNWIND_ABSENT;
}

static __always_inline bool find_mapping(struct user_walk *w, __u64 pc)
{
	int state = UNWIND_MORE;

	w->range = (struct unwind_range){w->first, w->count};
	for (__u32 i = 0; i < UNWIND_MAPPING_TURNS && state == UNWIND_MORE; i++)
		state = search_mappings(w, pc);
	return state == UNWIND_FOUND;
}

/* Returns the row for a pc, or UNWIND_NOT_MADE if there is none. */
static __always_inline struct unwind_row find_row(struct user_walk *w, __u64 pc)
{
	struct unwind_row none = {.cfa = UNWIND_CFA_COMMAND(UNWIND_NOT_MADE)};
	struct unwind_page_key key;
	struct unwind_page *page;
	struct unwind_row *row;
	int state = UNWIND_MORE;
	__u32 first;

	if ((pc < w->mapping.start || pc >= w->mapping.end) && !find_mapping(w, pc))
		return none;
	/* User space makes rows of code without a file from its instructions, if they are 64-bit.
	 */
	if (w->state.narrow && w->mapping.owner & UNWIND_OWNER_CODE)
		return (struct unwind_row){.cfa = UNWIND_CFA_COMMAND(UNWIND_FRAME_POINTER)};
	pc = pc - w->mapping.start + w->mapping.offset;
	key.owner = w->mapping.owner;
	key.page = pc >> UNWIND_PAGE_SHIFT;
	page = bpf_map_lookup_elem(&unwind_pages, &key);
	if (!page)
		return none;
	w->range = (struct unwind_range){page->first, page->count};
	for (__u32 i = 0; i < UNWIND_ROW_TURNS && state == UNWIND_MORE; i++)
		state = search_rows(w, pc & (UNWIND_PAGE_BYTES - 1));
	first = w->range.first; /* up to 6.1, a key must be on the stack */
	row = state == UNWIND_ABSENT ? NULL : unwind_row_at(first);
	return row ? *row : none;
}

/* Returns true if a pc that find_row() was called with is in a mapped file. */
static __always_inline bool is_in_file(const struct user_walk *w, __u64 pc)
{
	return pc >= w->mapping.start && pc < w->mapping.end &&
	       !(w->mapping.owner & UNWIND_OWNER_CODE);
}

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

#define CODE_PAGE_BYTES 4096

/*
 * Returns true if a frame can return to an address: the code there is readable, and a call is
 * before it, or it is where handlers of signals return to.
 */
static __always_inline bool is_return_address(__u64 address)
{
	__u64 code, in_page = address % CODE_PAGE_BYTES;

	if (bpf_probe_read_user(&code, sizeof(code), (void *)(address - sizeof(code)))) {
		/* The page before may be unreadable. */
		if (in_page >= sizeof(code) ||
		    bpf_probe_read_user(&code, sizeof(code), (void *)(address - in_page)))
			return 0;
		code = in_page ? code << 8 * (sizeof(code) - in_page) : 0;
	}
	return call_site_is_behind(code, address) ||
	       (!bpf_probe_read_user(&code, sizeof(code), (void *)address) &&
		call_site_is_signal_return(code));
}

/* Global, as search_mappings() is. */
__noinline int can_return_to(__u64 address)
{
	return is_return_address(address);
}

/* Returns call_site_thunk() of a return address. Global, as search_mappings() is. */
__noinline __u32 thunk_at(__u64 address)
{
	__u64 before = 0, behind;

	if (bpf_probe_read_user(&before, CALL_SITE_THUNK_BYTES,
				(void *)(address - CALL_SITE_THUNK_BYTES)) ||
	    bpf_probe_read_user(&behind, sizeof(behind), (void *)address))
		return 0;
	return call_site_thunk(before, behind);
}

/* Sets a row if a return address is in a thunk. */
static __always_inline void set_thunk_row(__u64 address, struct unwind_row *row)
{
	__u32 thunk = thunk_at(address), frame = thunk & ~CALL_SITE_SAVES_RBP;

	if (thunk)
		*row = (struct unwind_row){
			.cfa = UNWIND_CFA(UNWIND_CFA_RSP, (__s32)frame + 8),
			.rbp = thunk & CALL_SITE_SAVES_RBP ? -2 : UNWIND_RBP_KEPT,
		};
}

/*
 * Returns compiled_frame_words() of the current frame, of code that no file has and nobody has
 * reported. Global, as search_mappings() is.
 */
__noinline __u32 compiled_words(struct user_walk *w)
{
	struct runtime_recipe *recipe;
	__u32 pid;

	if (!w || !runtime_recipe_count)
		return 0;
	pid = w->pid;
	recipe = bpf_map_lookup_elem(&runtime_recipes, &pid);
	if (!recipe || !recipe->compiled.exists || recipe->stack_top != w->stack_top ||
	    bpf_probe_read_user(w->frame_words, sizeof(w->frame_words), (void *)w->state.sp))
		return 0;
	return compiled_frame_words(w->frame_words, recipe->compiled.callers.start,
				    recipe->compiled.callers.end);
}

/* Sets the row of a frame if it is one of compiled code. Returns true if it is. */
static __always_inline bool set_compiled_row(struct user_walk *w, struct unwind_row *row)
{
	__u32 words = compiled_words(w);

	if (!words || words > RUNTIME_COMPILED_WORDS)
		return false;
	*row = compiled_frame_row(words, w->state.sp, w->state.bp);
	return true;
}

/* Returns true if there is no row that says where the caller is. */
static __always_inline bool has_no_rule(struct unwind_row row)
{
	return row.cfa == UNWIND_CFA_COMMAND(UNWIND_FRAME_POINTER) ||
	       row.cfa == UNWIND_CFA_COMMAND(UNWIND_NOT_MADE);
}

#define FRAME_MADE_CFA UNWIND_CFA(UNWIND_CFA_RBP, 16)

/* Returns the rule of a frame that has called nothing, and whose code keeps frame pointers. */
static __always_inline __s32 leaf_frame_rule(struct user_walk *w,
					     const struct runtime_native_layout *layout)
{
	__u64 at = w->state.sp, address;
	enum frame_code_state state;

	if (bpf_probe_read_user(w->leaf_code, sizeof(w->leaf_code),
				(void *)(w->state.ip - FRAME_CODE_BEHIND)))
		return UNWIND_CFA_COMMAND(UNWIND_FRAME_POINTER);
	state = frame_code_state(w->leaf_code, layout);
	if (state == FRAME_CODE_MADE)
		return FRAME_MADE_CFA;
	if (state == FRAME_CODE_PUSHED)
		at += 8;
	if (bpf_probe_read_user(&address, sizeof(address), (void *)at) ||
	    !is_return_address(address))
		return state == FRAME_CODE_NOT_YET ? FRAME_MADE_CFA
						   : UNWIND_CFA_COMMAND(UNWIND_UNKNOWN);
	/* It may have been interrupted by a signal, and be no leaf. */
	w->leaf_enters = !w->callers && state != FRAME_CODE_LEFT;
	return UNWIND_CFA(UNWIND_CFA_RSP, state == FRAME_CODE_PUSHED ? 16 : 8);
}

/* Returns true if the leaf has no frame of its own, so the code that called it may have none yet.
 */
static __always_inline bool leaf_has_no_frame(const struct user_walk *w)
{
	return w->leaf_rule == UNWIND_CFA(UNWIND_CFA_RSP, 8);
}

/* Returns true if the innermost caller has called the leaf to make its frame. */
static __always_inline bool leaf_makes_frame(struct user_walk *w, __u64 return_address,
					     const struct runtime_native_layout *layout)
{
	return leaf_has_no_frame(w) && layout->enter_call[0].size_bytes &&
	       !bpf_probe_read_user(w->leaf_code, RUNTIME_PATTERN_BYTES_MAX,
				    (void *)(return_address - RUNTIME_PATTERN_BYTES_MAX)) &&
	       frame_code_entered(w->leaf_code, layout);
}

/*
 * Returns the rule (cfa of a row) of a frame that no row is for, by the recipe of the process; 0:
 * it has none. Global, as search_mappings() is.
 */
__noinline __s32 frame_rule(struct user_walk *w)
{
	const struct runtime_native_layout *layout;
	const struct runtime_native_range *range;
	struct runtime_recipe *recipe;
	__u64 pc;
	__u32 pid;

	if (!w)
		return 0;
	pc = w->state.ip - w->state.is_caller;
	if (w->state.is_caller && w->callers != 1 && pc >= w->frames_start && pc < w->frames_end)
		return FRAME_MADE_CFA;
	pid = w->pid;
	recipe = bpf_map_lookup_elem(&runtime_recipes, &pid);
	if (!recipe || recipe->stack_top != w->stack_top || !recipe->native.range_count) {
		w->lacks_recipe = 1;
		return 0;
	}
	range = native_range_at(recipe, pc);
	if (!range)
		return 0;
	layout = native_layout_of(recipe, range);
	if (!(layout->flags & RUNTIME_NATIVE_FRAME_POINTERS))
		return 0;
	w->frames_start = range->start;
	w->frames_end = range->end;
	if (!w->state.is_caller)
		return leaf_frame_rule(w, layout);
	return w->callers == 1 && leaf_makes_frame(w, w->state.ip, layout)
		       ? UNWIND_CFA(UNWIND_CFA_RSP, 8)
		       : FRAME_MADE_CFA;
}

/* Sets the row of a frame outside of files if the recipe of the process has a rule for it. */
static __always_inline bool set_frame_row(struct user_walk *w, struct unwind_row *row)
{
	__s32 cfa;

	if (!runtime_recipe_count || w->lacks_recipe)
		return false;
	cfa = frame_rule(w);
	if (!cfa)
		return false;
	*row = (struct unwind_row){
		.cfa = cfa,
		.rbp = cfa == UNWIND_CFA(UNWIND_CFA_RSP, 8) ? UNWIND_RBP_KEPT : -2,
	};
	return true;
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
