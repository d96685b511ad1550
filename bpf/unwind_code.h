/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rules of frames that no row is for, from the machine code: of thunks, and of the code of
 * runtimes, by their recipes.
 */
#ifndef JITBPF_BPF_UNWIND_CODE_H
#define JITBPF_BPF_UNWIND_CODE_H

#include "bpf/call_site.h"
#include "bpf/compiled_frame.h"
#include "bpf/frame_code.h"
#include "bpf/user_walk.h"

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

#endif
