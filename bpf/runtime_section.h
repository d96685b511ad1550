/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Walks runtime frames that are elements of arrays (struct runtime_sections). */
#ifndef JITBPF_BPF_RUNTIME_SECTION_H
#define JITBPF_BPF_RUNTIME_SECTION_H

#include "bpf/runtime_frame.h"
#include "bpf/runtime_put.h"
#include "uapi/runtime_recipe.h"

/* Goes to a section and its newest frame. Returns false if it cannot be read. */
static __always_inline bool enter_section(struct runtime_walk *w,
					  const struct runtime_recipe *recipe, __u64 section)
{
	const struct runtime_sections *sections = &recipe->sections;
	__u64 bytes = sections->section_bytes;

	asm volatile("" : "+r"(bytes));
	w->section = section;
	w->last_is_entry = 0;
	if (bytes > RUNTIME_OBJECT_BYTES_MAX ||
	    bpf_probe_read_user(w->object_bytes, bytes, (void *)section))
		return false;
	w->array = object_word(w, sections->array_at);
	w->number = (__s32)object_word(w, sections->number_at);
	w->kind = (__u32)object_word(w, sections->kind_at);
	return true;
}

/* Returns the address of a frame by its number. */
static __always_inline __u64 section_frame(const struct runtime_walk *w,
					   const struct runtime_recipe *recipe, __s32 number)
{
	return w->array + (__s64)number * recipe->stride;
}

/* Sets w->function to the name of the file that a place is in, or 0. */
static __always_inline void find_file(struct runtime_walk *w, const struct runtime_recipe *recipe,
				      __u64 place)
{
	__u64 address = place;

	for (__u32 i = 0; i < RUNTIME_FILE_STEPS_MAX; i++) {
		if (i >= recipe->sections.file_step_count || !address)
			break;
		if (bpf_probe_read_user(&address, sizeof(address),
					(void *)(address + recipe->sections.file_step[i])))
			address = 0;
	}
	w->function = address ? address + recipe->sections.file_offset : 0;
}

/* Adds a frame of code that is in no function. Without a file, it is not known. */
static __always_inline int put_file(struct sample_scratch *s, struct runtime_recipe *recipe,
				    __u32 at, __u64 place, bool is_entry)
{
	struct runtime_walk *w = &s->runtime;
	__u32 line = 0;

	find_file(w, recipe, place);
	if (!w->function)
		return runtime_put(s, at, 0, 0, is_entry);
	bpf_probe_read_user(&line, sizeof(line), (void *)(place + recipe->sections.line_at));
	w->owner = RUNTIME_FILE_OWNER;
	return runtime_put_function(s, recipe, at, line, is_entry);
}

/* Ends a section, and goes to the one of its callers. Returns 0, or how the frames end. */
static __always_inline int leave_section(struct sample_scratch *s, struct runtime_recipe *recipe,
					 __u32 at)
{
	const struct runtime_sections *sections = &recipe->sections;
	struct runtime_walk *w = &s->runtime;
	__u64 outer = 0;
	__u32 kind = 0;
	int end;

	if (bpf_probe_read_user(&outer, sizeof(outer), (void *)(w->section + sections->outer_at)))
		return JITBPF_RUNTIME_UNREADABLE;
	if (!outer) {
		if (!sections->program_mask ||
		    bpf_probe_read_user(&kind, sizeof(kind),
					(void *)(w->array + recipe->entry_at)) ||
		    (kind & sections->program_mask) != sections->program_value)
			return JITBPF_RUNTIME_ROOT;
		end = put_file(s, recipe, at, w->place, true);
		return end ?: JITBPF_RUNTIME_ROOT;
	}
	end = 0;
	if (!w->last_is_entry && w->kind < 32 && sections->loop_kinds >> w->kind & 1)
		end = runtime_put(s, at, 0, 0, 1);
	if (!enter_section(w, recipe, outer))
		return JITBPF_RUNTIME_UNREADABLE;
	return end;
}

/* Returns what the frame that was read stands for, 0 if it is left out. */
static __always_inline __u32 kind_of_frame(const struct runtime_walk *w,
					   const struct runtime_recipe *recipe)
{
	__u32 entry = entry_bits(w, recipe);

	for (__u32 i = 0; i < RUNTIME_FRAME_KINDS_MAX; i++)
		if (i < recipe->sections.kind_count &&
		    (entry & recipe->sections.kind[i].mask) == recipe->sections.kind[i].value)
			return recipe->sections.kind[i].frame;
	return 0;
}

/* As runtime_step(). */
__noinline int runtime_section_step(struct sample_scratch *s, struct runtime_recipe *recipe,
				    __u32 at)
{
	const struct runtime_sections *sections;
	struct runtime_walk *w;
	__u32 kind, line = 0;
	bool has_begun;
	__u64 place;
	__s32 caller;

	if (!s || !recipe)
		return JITBPF_RUNTIME_UNREADABLE;
	w = &s->runtime;
	sections = &recipe->sections;
	w->owner = 0;
	if (!w->section)
		return JITBPF_RUNTIME_ROOT;
	if (w->number < 0)
		return leave_section(s, recipe, at);
	if (!read_frame(w, recipe, section_frame(w, recipe, w->number)))
		return JITBPF_RUNTIME_UNREADABLE;
	caller = (__s32)frame_word(w, sections->caller_at);
	if (caller >= w->number)
		return JITBPF_RUNTIME_UNREADABLE;
	w->number = caller;
	kind = kind_of_frame(w, recipe);
	if (!kind)
		return 0;
	place = w->place;
	w->place = frame_word(w, sections->place_at);
	w->last_is_entry = !frame_word(w, sections->return_at);
	has_begun = w->count || place != w->place;
	if (kind == RUNTIME_SECTION_FILE && has_begun)
		return put_file(s, recipe, at, place, w->last_is_entry);
	w->function = 0;
	if (kind == RUNTIME_SECTION_FUNCTION)
		find_function(w, recipe, 0);
	/* The loop of a frame that is left out runs still. */
	if (!w->function)
		return w->last_is_entry ? runtime_put(s, at, 0, 0, 1) : 0;
	if (has_begun)
		bpf_probe_read_user(&line, sizeof(line), (void *)(place + sections->line_at));
	return runtime_put_function(s, recipe, at, line, w->last_is_entry);
}

/* Sets w->place to that of the call of a frame that ends, if there is one. */
static __always_inline void find_ending(struct runtime_walk *w, const struct runtime_recipe *recipe,
					__s32 top)
{
	if (top <= w->number || top < 0 || !read_frame(w, recipe, section_frame(w, recipe, top)) ||
	    !kind_of_frame(w, recipe))
		return;
	w->place = frame_word(w, recipe->sections.place_at);
}

/*
 * Goes to the newest frame of a thread: the last step is from `address` to w->frame, the newest
 * section. Returns 0 if memory on the way cannot be read. Global, as walk_frame() is.
 */
__noinline int runtime_newest_section(struct runtime_walk *w, struct runtime_recipe *recipe,
				      __u64 address, __u64 ip)
{
	const struct runtime_sections *sections;
	__s32 caller;

	if (!w || !recipe)
		return 0;
	sections = &recipe->sections;
	if (bpf_probe_read_user(&w->place, sizeof(w->place),
				(void *)(address + sections->newest_place_at)) ||
	    !enter_section(w, recipe, w->frame))
		return 0;
	if (ip >= sections->ending.start && ip < sections->ending.end)
		find_ending(w, recipe, (__s32)object_word(w, sections->top_at));
	if (w->number < 0 || ip < sections->unfilled.start || ip >= sections->unfilled.end)
		return 1;
	if (bpf_probe_read_user(
		    &caller, sizeof(caller),
		    (void *)(section_frame(w, recipe, w->number) + sections->caller_at)))
		return 0;
	w->number = caller < w->number ? caller : -1;
	return 1;
}

#endif
