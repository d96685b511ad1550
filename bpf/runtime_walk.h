/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks the runtime frames of the current thread by the recipe of its process
 * (uapi/runtime_recipe.h). The thread does not run meanwhile, so its frames stay.
 */
#ifndef JITBPF_BPF_RUNTIME_WALK_H
#define JITBPF_BPF_RUNTIME_WALK_H

#include "bpf/runtime_frame.h"
#include "bpf/runtime_native.h"
#include "bpf/runtime_put.h"
#include "bpf/runtime_ranges.h"
#include "bpf/runtime_search.h"
#include "bpf/runtime_section.h"
#include "bpf/sample_scratch.h"
#include "uapi/runtime_recipe.h"

/*
 * Loops of these lengths are cheap to verify. Their product is twice JITBPF_RUNTIME_FRAMES_MAX,
 * since some frames are left out.
 */
#define RUNTIME_PIECE  4
#define RUNTIME_PIECES 16
#define RUNTIME_TURNS  (2 * JITBPF_RUNTIME_FRAMES_MAX / (RUNTIME_PIECE * RUNTIME_PIECES))

/* Returns what the thread is in: flags of its loop, 0 if it is in none. */
static __always_inline __u32 loop_flags(const struct runtime_recipe *recipe, __u64 ip)
{
	for (__u32 i = 0; i < RUNTIME_LOOPS_MAX; i++)
		if (i < recipe->loop_count && ip >= recipe->loops[i].start &&
		    ip < recipe->loops[i].end)
			return recipe->loops[i].flags;
	return 0;
}

/* Adds the frame that the current one, which has no function, stands for. */
__noinline int runtime_stand_in(struct sample_scratch *s, struct runtime_recipe *recipe, __u32 at)
{
	const struct runtime_stand_in *stand_in;
	__u64 object, class = 0, word = 0, other = 0, function = 0, position = 0;
	int end = 0;

	if (!s || !recipe || !recipe->stand_in.class_pointer)
		return 0;
	stand_in = &recipe->stand_in;
	object = frame_word(&s->runtime, stand_in->object_at);
	if (bpf_probe_read_user(&class, sizeof(class), (void *)stand_in->class_pointer) ||
	    bpf_probe_read_user(&word, sizeof(word), (void *)(object + stand_in->class_at)) ||
	    !class || word != class)
		return 0;
	word = 0;
	if (stand_in->frame_at == RUNTIME_NO_OFFSET ||
	    bpf_probe_read_user(&other, sizeof(other), (void *)(object + stand_in->frame_at)) ||
	    bpf_probe_read_user(&function, sizeof(function),
				(void *)(other + recipe->function_at)) ||
	    !function ||
	    bpf_probe_read_user(&word, sizeof(word), (void *)(object + stand_in->parent_at)))
		return runtime_put(s, at, 0, 0, 0);
	if (word && bpf_probe_read_user(&word, sizeof(word), (void *)(word + stand_in->parent_at)))
		word = 1;
	if (word)
		end = runtime_put(s, at, 0, 0, 0);
	if (recipe->position_at != RUNTIME_NO_OFFSET)
		bpf_probe_read_user(&position, sizeof(position),
				    (void *)(other + recipe->position_at));
	s->runtime.function = function & ~(__u64)recipe->function_clear;
	/* The loop runs for the other frame: this one is no entry. */
	return end ?: runtime_put_function(s, recipe, at, position & recipe->position_mask, 0);
}

/*
 * Returns true if code without a file, at an address, has set the newest frame and not filled it
 * yet. Global, as walk_frame() is.
 */
__noinline int runtime_fills(struct runtime_walk *w, struct runtime_recipe *recipe, __u64 address)
{
	const struct runtime_compiled *compiled;
	__u32 word;

	if (!w || !recipe)
		return 0;
	compiled = &recipe->compiled;
	if (!compiled->fill_count ||
	    bpf_probe_read_user(w->object_bytes, RUNTIME_FILL_BYTES, (void *)address))
		return 0;
	for (__u32 at = 0; at + sizeof(word) <= RUNTIME_FILL_BYTES; at++) {
		__builtin_memcpy(&word, w->object_bytes + at, sizeof(word));
		for (__u32 i = 0; i < RUNTIME_FILLS_MAX; i++) {
			if (i < compiled->fill_count && word == compiled->fill[i])
				return 1;
			if (i < compiled->fill_count && word == compiled->link[i])
				return 0;
		}
	}
	return 0;
}

/* Adds what a frame shows, and goes to its caller. Returns 0, or how the frames end. */
__noinline int runtime_step(struct sample_scratch *s, struct runtime_recipe *recipe, __u32 at)
{
	struct runtime_walk *w;
	__u64 frame, position;
	__u32 entry;
	bool is_entry;

	if (!s || !recipe)
		return JITBPF_RUNTIME_UNREADABLE;
	w = &s->runtime;
	frame = w->frame;
	if (!frame)
		return JITBPF_RUNTIME_ROOT;
	if (!read_frame(w, recipe, frame))
		return JITBPF_RUNTIME_UNREADABLE;
	entry = entry_bits(w, recipe);
	is_entry = (entry & recipe->entry_mask) >= recipe->entry_value;
	w->owner = w->wants_owner = 0;
	if (recipe->previous_at != RUNTIME_NO_OFFSET)
		w->frame = frame_word(w, recipe->previous_at);
	else
		w->frame = frame + recipe->stride;
	if (is_last(w, recipe, entry))
		return JITBPF_RUNTIME_ROOT;
	find_function(w, recipe, entry);
	if (is_entry && recipe->entry_is_mark) {
		if (!w->on_stack)
			w->on_stack = frame;
		return runtime_put(s, at, 0, frame, 1);
	}
	if (!w->function)
		return runtime_stand_in(s, recipe, at);
	position = position_of(w, recipe, frame);
	if (w->wants_owner)
		runtime_find_owner(w, recipe);
	return runtime_put_function(s, recipe, at, position, is_entry);
}

__noinline int runtime_piece(struct sample_scratch *s, struct runtime_recipe *recipe, __u32 at)
{
	int end = 0;

	if (!recipe)
		return JITBPF_RUNTIME_UNREADABLE;
	for (__u32 i = 0; i < RUNTIME_PIECE && !end; i++)
		end = recipe->sections.exists ? runtime_section_step(s, recipe, at)
					      : runtime_step(s, recipe, at);
	return end;
}

__noinline int runtime_pieces(struct sample_scratch *s, struct runtime_recipe *recipe, __u32 at)
{
	int end = 0;

	for (__u32 i = 0; i < RUNTIME_PIECES && !end; i++)
		end = runtime_piece(s, recipe, at);
	return end;
}

/* Returns the state of the current thread if it holds the runtime's lock, else 0. */
static __always_inline __u64 held_state(const struct runtime_recipe *recipe, __u64 thread_pointer)
{
	__u64 state = 0, thread = 0;

	if (!recipe->holder.at ||
	    bpf_probe_read_user(&state, sizeof(state), (void *)recipe->holder.at) || !state ||
	    bpf_probe_read_user(&thread, sizeof(thread),
				(void *)(state + recipe->holder.thread_at)))
		return 0;
	return thread == thread_pointer ? state : 0;
}

/* Sets the newest frame of the thread. Returns 0 if memory on the way cannot be read. */
__noinline int runtime_newest(struct runtime_walk *w, struct runtime_recipe *recipe,
			      __u64 thread_pointer)
{
	struct pt_regs *user = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	__u64 address, word, held, before = 0;
	__u32 first;

	if (!w || !recipe)
		return 0;
	w->on_stack = 0;
	w->is_doubtful = 0;
	w->loop = loop_flags(recipe, user->ip);
	word = register_of(user, recipe->frame_register);
	w->newest_position = register_of(user, recipe->position_register);
	if (w->loop & RUNTIME_LOOP_HAS_FRAME &&
	    !bpf_probe_read_user(&address, sizeof(address), (void *)(word + recipe->function_at))) {
		w->frame = w->newest = word;
		w->has_position = !!(w->loop & RUNTIME_LOOP_HAS_POSITION);
		return 1;
	}
	address = recipe->base;
	if (recipe->base_kind == RUNTIME_BASE_THREAD_POINTER)
		address += thread_pointer;
	held = held_state(recipe, thread_pointer);
	first = held ? recipe->holder.step : 0;
	address = held ?: address;
	w->is_doubtful = recipe->holder.at && !held;
	for (__u32 i = 0; i < RUNTIME_STEPS_MAX; i++) {
		if (i < first)
			continue;
		if (i >= recipe->step_count || !address)
			break;
		before = address;
		if (bpf_probe_read_user(&address, sizeof(address),
					(void *)(address + recipe->step[i])))
			return 0;
		if (i + 1 == recipe->steps_to_stack)
			w->on_stack = address;
	}
	w->frame = w->newest = address;
	w->has_position = w->loop & RUNTIME_LOOP_HAS_POSITION && word == address;
	w->section = 0;
	if (recipe->sections.exists && address)
		return runtime_newest_section(w, recipe, before, user->ip);
	return 1;
}

/* Walks all frames. Returns how they end. */
static __always_inline int walk_runtime(struct sample_scratch *s, struct runtime_recipe *recipe,
					__u32 at)
{
	struct pt_regs *user = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	int end = 0;

	s->runtime.count = 0;
	s->runtime.walk++;
	/* What leads to the newest frame is not valid there. */
	if (user->ip >= recipe->unsettled.start && user->ip < recipe->unsettled.end)
		return JITBPF_RUNTIME_UNSETTLED;
	if (!runtime_newest(&s->runtime, recipe, s->walk.thread_pointer))
		return JITBPF_RUNTIME_UNREADABLE;
	/* Only a leaf that is in code without a file is the innermost such code. */
	if (s->walk.code == user->ip && s->runtime.frame && recipe->stride &&
	    runtime_fills(&s->runtime, recipe, user->ip)) {
		end = runtime_put(s, at, s->runtime.frame, 0, 0);
		s->runtime.frame += recipe->stride;
	}
	for (__u32 i = 0; i < RUNTIME_TURNS && !end; i++)
		end = runtime_pieces(s, recipe, at);
	return end ?: JITBPF_RUNTIME_DEPTH;
}

/* Returns what is known of the frames that were walked: enum jitbpf_runtime_flag. */
static __always_inline __u32 runtime_flags(const struct runtime_walk *w)
{
	__u32 flags = w->is_doubtful ? JITBPF_RUNTIME_DOUBTFUL : 0;

	if (!w->on_stack || w->leaf_start >= w->leaf_end)
		return flags;
	return flags | (w->on_stack >= w->leaf_start && w->on_stack < w->leaf_end
				? JITBPF_RUNTIME_LEAF_RUNS
				: JITBPF_RUNTIME_LEAF_RUNS_NOT);
}

/*
 * Returns true if the reader should look at the sample at once: what a new function is called must
 * be read while it exists.
 */
static __always_inline bool runtime_wakes_reader(struct sample_scratch *s)
{
	__u64 time_ns = s->head.h.time_ns;

	if (!s->runtime.news)
		return false;
	s->runtime.news = 0;
	if (time_ns < runtime_wake_ns)
		return false;
	runtime_wake_ns = time_ns + RUNTIME_WAKE_NS;
	__sync_fetch_and_add(&runtime_wakes, 1);
	return true;
}

/*
 * Writes the runtime frames of the sample to words[at] and up. Returns the number of words. Global,
 * as walk_frame() is. Eight calls deep is the limit of the kernel.
 */
__noinline int copy_runtime_frames(struct sample_scratch *s, struct kept_walk *kept, __u32 at)
{
	struct jitbpf_runtime_frames *head;
	struct runtime_recipe *recipe;
	__u32 pid, count;
	__u64 to = at;
	int end;

	if (!s || !kept)
		return 0;
	pid = s->head.pid;
	recipe = bpf_map_lookup_elem(&runtime_recipes, &pid);
	if (!recipe || recipe->stack_top != s->walk.stack_top)
		return 0;
	if (!recipe->native.range_count)
		end = walk_runtime(s, recipe, at);
	else
		end = walk_native(s, kept, recipe, at);
	if (recipe->native.range_count && has_frames_beyond(s))
		end = search_native(s, recipe, at);
	/* The verifier forgets what it knows of a number that was put on the stack. */
	asm volatile("" : "+r"(to));
	if (to > JITBPF_SAMPLE_FRAMES_MAX + REGS_WORDS)
		return 0;
	head = (struct jitbpf_runtime_frames *)&s->words[to];
	count = s->runtime.count;
	head->count = count;
	head->end = end;
	head->recipe = recipe->number;
	head->flags =
		recipe->native.range_count ? native_flags(&s->runtime) : runtime_flags(&s->runtime);
	head->thread_pointer = s->walk.thread_pointer;
	s->head.h.flags |= JITBPF_SAMPLE_RUNTIME_FRAMES;
	return (sizeof(*head) + count * sizeof(struct runtime_frame)) / sizeof(__u64);
}

#endif
