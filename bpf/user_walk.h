/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of a walk of a user stack, and its look-ups in the tables of BPF maps. */
#ifndef JITBPF_BPF_USER_WALK_H
#define JITBPF_BPF_USER_WALK_H

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

#endif
