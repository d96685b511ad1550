/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads one runtime frame that is away from the native stack (uapi/runtime_recipe.h). */
#ifndef JITBPF_BPF_RUNTIME_FRAME_H
#define JITBPF_BPF_RUNTIME_FRAME_H

#include "bpf/runtime_put.h"

/* Returns the position of the current frame, which was read. */
static __always_inline __u64 position_of(const struct runtime_walk *w,
					 const struct runtime_recipe *recipe, __u64 frame)
{
	__u64 position = 0;

	if (frame == w->newest && w->loop & RUNTIME_LOOP_NO_POSITION)
		return 0;
	if (frame == w->newest && w->has_position)
		position = w->newest_position;
	else if (recipe->position_at != RUNTIME_NO_OFFSET)
		position = frame_word(w, recipe->position_at);
	return position & recipe->position_mask;
}

/* Reads the owner at an address. Returns its kind, 0 if it cannot be read. */
static __always_inline __u32 owner_kind_at(struct runtime_walk *w,
					   const struct runtime_recipe *recipe, __u64 address)
{
	__u64 bytes = recipe->owner.bytes;

	asm volatile("" : "+r"(bytes));
	if (bytes > RUNTIME_OWNER_BYTES_MAX ||
	    bpf_probe_read_user(w->owner_bytes, bytes, (void *)address))
		return 0;
	return (__u32)owner_word(w, recipe->owner.kind_at) & recipe->owner.kind_mask;
}

/* Reads the further words of a frame, or of an outer scope. Returns false if they are not there. */
static __always_inline bool read_more(struct runtime_walk *w, const struct runtime_recipe *recipe,
				      __u64 scope)
{
	__u64 bytes = recipe->more_bytes;

	asm volatile("" : "+r"(bytes));
	return bytes <= RUNTIME_MORE_BYTES_MAX &&
	       !bpf_probe_read_user(w->frame_bytes + RUNTIME_MORE_AT, bytes,
				    (void *)(scope + recipe->more_offset));
}

static __always_inline __u32 entry_bits(const struct runtime_walk *w,
					const struct runtime_recipe *recipe)
{
	return (__u32)frame_word(w, recipe->entry_at);
}

/*
 * Sets w->owner, and reads it. The further words of the frame are those of the scope where it ends.
 * Global, as walk_frame() is.
 */
__noinline int runtime_find_owner(struct runtime_walk *w, struct runtime_recipe *recipe)
{
	__u64 object;
	__u32 kind;

	if (!w || !recipe)
		return 0;
	for (__u32 i = 0; i < RUNTIME_SCOPES_MAX; i++) {
		object = frame_word(w, recipe->owner.object_at);
		kind = owner_kind_at(w, recipe, object);
		if (kind == recipe->owner.via_value) {
			object = owner_word(w, recipe->owner.via_at);
			kind = owner_kind_at(w, recipe, object);
		}
		if (kind == recipe->owner.kind_value) {
			w->owner = object;
			return 1;
		}
		if (entry_bits(w, recipe) & recipe->owner.outermost_mask ||
		    !read_more(w, recipe,
			       frame_word(w, recipe->owner.outer_at) &
				       ~(__u64)recipe->owner.outer_clear))
			return 0;
	}
	return 0;
}

/* Returns true if a frame has a function word that says nothing. */
static __always_inline bool lacks_position(const struct runtime_walk *w,
					   const struct runtime_recipe *recipe, __u32 entry)
{
	return recipe->needs_position && (entry & recipe->other_mask) >= recipe->needs_position &&
	       frame_word(w, recipe->function_at) && !frame_word(w, recipe->position_at);
}

static __always_inline bool is_last(const struct runtime_walk *w,
				    const struct runtime_recipe *recipe, __u32 entry)
{
	return recipe->last_mask && (entry & recipe->last_mask) == recipe->last_value &&
	       !lacks_position(w, recipe, entry);
}

/* Sets w->function, of the frame that was read. */
static __always_inline void find_function(struct runtime_walk *w,
					  const struct runtime_recipe *recipe, __u32 entry)
{
	w->function = frame_word(w, recipe->function_at) & ~(__u64)recipe->function_clear;
	if (!w->function && recipe->other_mask &&
	    (entry & recipe->other_mask) == recipe->other_value) {
		w->function = frame_word(w, recipe->other_at);
		return;
	}
	if (lacks_position(w, recipe, entry))
		w->function = 0;
	if (w->function && (recipe->via_at || recipe->via_is_first) &&
	    bpf_probe_read_user(&w->function, sizeof(w->function),
				(void *)(w->function + recipe->via_at)))
		w->function = 0;
	w->wants_owner = w->function && recipe->owner.kind_mask;
}

/* Reads the words of a frame. Returns false if they cannot be read. */
static __always_inline bool read_frame(struct runtime_walk *w, const struct runtime_recipe *recipe,
				       __u64 frame)
{
	__u64 bytes = recipe->frame_bytes;

	asm volatile("" : "+r"(bytes));
	return bytes <= RUNTIME_FRAME_BYTES_MAX &&
	       !bpf_probe_read_user(w->frame_bytes, bytes, (void *)frame) &&
	       (!recipe->more_bytes || read_more(w, recipe, frame_word(w, recipe->more_at)));
}

#endif
