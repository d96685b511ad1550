/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/runtimes/runtime_merge.h"

#include <stddef.h>

#define INTERPRETER ((uint64_t)JITBPF_FRAME_INTERPRETER << JITBPF_FRAME_KIND_SHIFT)
#define GAP	    ((uint64_t)JITBPF_FRAME_GAP << JITBPF_FRAME_KIND_SHIFT)
#define VALUE_MASK  ((1ull << JITBPF_FRAME_KIND_SHIFT) - 1)

struct merge {
	const struct native_stack *native;
	const struct runtime_stack *runtime;
	struct merged_stack *ret;
	uint32_t native_at, runtime_at; /* the next frames */
	uint32_t groups, loops;		/* that are left */
	bool inside;			/* no runtime frame is placed yet */
	bool switching;			/* native stacks: the leaf is all that is known */
	bool has_gap;
	bool behind_loop; /* the last native frame was one of the loop */
};

static bool is_in(const struct runtime_range *range, uint64_t pc)
{
	return pc >= range->start && pc < range->end;
}

static uint64_t pc_at(const struct native_stack *native, uint32_t i)
{
	return native->addresses[i] - !!i;
}

static const struct runtime_range compiled = {.flags = RUNTIME_LOOP_COMPILED};

/* Returns true if a native frame is in code that the runtime has compiled. */
static bool is_compiled(const struct merge *m, uint32_t i)
{
	const struct runtime_compiled *code = &m->runtime->recipe->compiled;
	const struct native_stack *native = m->native;

	return code->exists && i + 1 < native->count && native->is_unknown &&
	       is_in(&code->callers, pc_at(native, i + 1)) &&
	       !is_in(&code->callers, pc_at(native, i)) &&
	       native->is_unknown(native->context, pc_at(native, i));
}

/* Returns the range of the loop that a native frame is in, or NULL. */
static const struct runtime_range *loop_at(const struct merge *m, uint32_t i)
{
	const struct runtime_recipe *recipe = m->runtime->recipe;

	if (i >= m->native->count)
		return NULL;
	for (uint32_t k = 0; k < recipe->loop_count && k < RUNTIME_LOOPS_MAX; k++) {
		if (is_in(&recipe->loops[k], pc_at(m->native, i)))
			return &recipe->loops[k];
	}
	return is_compiled(m, i) ? &compiled : NULL;
}

/*
 * Returns the number of native frames, from i on, that stand for one group: none; or one; or two,
 * if compiled code was called by the loop; or those up to the next loop, if one was called again.
 */
static uint32_t loop_frames(const struct merge *m, uint32_t i)
{
	const struct runtime_range *again = &m->runtime->recipe->again;
	const struct runtime_range *loop = loop_at(m, i), *caller;
	uint32_t next = i + 1;

	if (!loop)
		return 0;
	while (loop && next < m->native->count && is_in(again, pc_at(m->native, next))) {
		while (next < m->native->count && !(loop = loop_at(m, next)))
			next++;
		next += loop != NULL;
	}
	if (next > i + 1)
		return loop ? next - i : 1;
	caller = loop_at(m, i + 1);
	return loop->flags & RUNTIME_LOOP_COMPILED && caller &&
			       !(caller->flags & RUNTIME_LOOP_COMPILED)
		       ? 2
		       : 1;
}

static uint32_t count_loops(const struct merge *m)
{
	uint32_t count = 0, frames;

	for (uint32_t i = 0; i < m->native->count; i += frames ?: 1) {
		frames = loop_frames(m, i);
		count += frames > 0;
	}
	return count;
}

static bool is_entry(const struct runtime_stack *runtime, uint32_t i)
{
	return runtime->frames[i].check & 1;
}

/* Returns true if the thread is between two native stacks: the runtime frames may be of the other.
 */
static bool is_switching(const struct merge *m)
{
	const struct runtime_recipe *recipe = m->runtime->recipe;
	const struct native_stack *native = m->native;

	for (uint32_t i = 0; i < native->count && !loop_at(m, i); i++) {
		uint64_t pc = pc_at(native, i);

		if (native->switches && native->switches(native->context, pc))
			return true;
		for (uint32_t k = 0; k < recipe->switch_count && k < RUNTIME_SWITCHES_MAX; k++) {
			if (is_in(&recipe->switches[k], pc))
				return true;
		}
	}
	return false;
}

/*
 * Returns the number of native frames up to the one that began the stack of a coroutine; or of all
 * frames.
 */
static uint32_t count_of_stack(const struct merge *m)
{
	const struct native_stack *native = m->native;
	uint32_t loops = 0, frames, i;

	if (!native->switches || !m->groups || !m->runtime->whole)
		return native->count;
	for (i = 0; i < native->count; i += frames ?: 1) {
		frames = loop_frames(m, i);
		loops += frames > 0;
		if (!frames && loops >= m->groups &&
		    native->switches(native->context, pc_at(native, i)))
			return i + 1;
	}
	return native->count;
}

/* Returns true if groups that are left can be placed without a native frame. */
static bool has_rest(const struct merge *m)
{
	const struct runtime_stack *runtime = m->runtime;

	for (uint32_t i = m->runtime_at; i < runtime->count; i++) {
		if (runtime->words[i].function)
			return runtime->whole || !(runtime->flags & JITBPF_RUNTIME_DOUBTFUL);
	}
	return false;
}

/* Returns the number of groups that are left and end with an entry: those that a loop runs. */
static uint32_t count_entries(const struct merge *m)
{
	return m->groups - (m->groups && !is_entry(m->runtime, m->runtime->count - 1));
}

/* A group ends with an entry, or with the last frame that is known. */
static uint32_t count_groups(const struct runtime_stack *runtime)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < runtime->count; i++)
		count += is_entry(runtime, i) || i == runtime->count - 1;
	return count;
}

/*
 * Returns true if the sample lacks what the runtime's structures could tell of the leaf: its stack
 * was walked from a copy.
 */
static bool is_not_told(const struct merge *m)
{
	const struct runtime_recipe *recipe = m->runtime->recipe;

	return (recipe->steps_to_stack || recipe->entry_is_mark) &&
	       !(m->runtime->flags & (JITBPF_RUNTIME_LEAF_RUNS | JITBPF_RUNTIME_LEAF_RUNS_NOT));
}

static bool is_unsettled(const struct merge *m)
{
	return is_in(&m->runtime->recipe->unsettled, pc_at(m->native, 0));
}

/* Returns the number of innermost loop frames without a group: 1 or 0. */
static uint32_t count_without(const struct merge *m)
{
	if (!loop_at(m, 0))
		return 0;
	if (is_unsettled(m))
		return 1;
	if (m->runtime->flags & (JITBPF_RUNTIME_LEAF_RUNS | JITBPF_RUNTIME_LEAF_RUNS_NOT))
		return !!(m->runtime->flags & JITBPF_RUNTIME_LEAF_RUNS_NOT);
	return m->native->whole && m->runtime->whole && m->loops == count_entries(m) + 1;
}

/* Returns true if the newest group is an entry whose loop was not called yet. */
static bool is_early(const struct merge *m)
{
	return m->runtime->recipe->entry_is_early && m->native->whole && m->runtime->whole &&
	       count_entries(m) == m->loops + 1 && !loop_at(m, 0);
}

/* Returns true if frames that are fewer than the loops are of another state of the thread. */
static bool is_of_other_state(const struct merge *m)
{
	return m->runtime->flags & JITBPF_RUNTIME_DOUBTFUL && m->native->whole && m->runtime->whole;
}

/*
 * Returns true if functions are missing that could not be read. A whole native stack without the
 * loop has none: what leads to them may be gone, as in a program that has unmapped its runtime.
 */
static bool lacks_frames(const struct merge *m)
{
	const struct native_stack *native = m->native;

	return !m->runtime->whole && (m->loops || m->groups || !native->whole || native->doubtful);
}

static void put(struct merge *m, uint64_t word)
{
	m->ret->words[m->ret->count++] = word;
}

static void put_gap(struct merge *m)
{
	put(m, GAP);
	m->has_gap = true;
}

/* Returns true if the next group has a frame with a function. */
static bool has_function(const struct merge *m)
{
	const struct runtime_stack *runtime = m->runtime;

	for (uint32_t i = m->runtime_at; i < runtime->count; i++) {
		if (runtime->words[i].function)
			return true;
		if (is_entry(runtime, i))
			break;
	}
	return false;
}

/* Place a group that a range of the loop stands for; NULL: none does. */
static void put_group(struct merge *m, const struct runtime_range *loop)
{
	uint64_t mark = loop && loop->flags & RUNTIME_LOOP_COMPILED ? JITBPF_POSITION_COMPILED : 0;
	const struct runtime_stack *runtime = m->runtime;
	bool ends = false;

	while (!ends) {
		const struct runtime_words *words = &runtime->words[m->runtime_at];

		ends = is_entry(runtime, m->runtime_at) || m->runtime_at == runtime->count - 1;
		m->runtime_at++;
		if (!words->function)
			continue;
		put(m, words->function);
		/* Compiled code writes positions only before calls. */
		put(m, (loop == &compiled && m->runtime_at == 1 ? 0 : words->position) | mark);
		mark = 0;
		m->inside = false;
	}
	m->groups--;
	if (m->runtime_at == runtime->count && !runtime->whole && !m->inside &&
	    (m->native->whole || m->native_at < m->native->count))
		put_gap(m);
}

static void put_native(struct merge *m, bool is_runtime)
{
	uint64_t address = m->native->addresses[m->native_at++];

	put(m, is_runtime ? INTERPRETER | (address & VALUE_MASK) : address);
}

/* Returns true if the next native frame is where the thread begins. */
static bool is_start(const struct merge *m)
{
	return m->native->whole && m->native_at == m->native->count - 1 && !m->groups;
}

/* Returns true if the next native frame only serves runtime frames that are placed. */
static bool serves(const struct merge *m)
{
	const struct native_stack *native = m->native;
	uint64_t pc = pc_at(native, m->native_at);
	bool is_trampoline =
		m->behind_loop && native->is_unknown && native->is_unknown(native->context, pc);

	return (is_trampoline || (!m->inside && is_in(&m->runtime->own, pc))) && !is_start(m) &&
	       (m->groups || (m->runtime->whole && !m->loops));
}

/* Place the groups that no native frame stands for. Returns false if there are none. */
static bool put_rest(struct merge *m)
{
	const struct native_stack *native = m->native;

	if (!m->groups || !has_rest(m) || (!m->runtime->whole && m->inside && !m->switching) ||
	    (!native->whole && (!native->count || native->doubtful)))
		return false;
	if (!native->whole)
		put_gap(m);
	while (m->groups)
		put_group(m, NULL);
	return true;
}

void runtime_merge(const struct native_stack *native, const struct runtime_stack *runtime,
		   struct merged_stack *ret)
{
	struct native_stack leaf = {.addresses = native->addresses, .count = 1}, part = *native;
	struct merge m = {.native = native, .runtime = runtime, .ret = ret, .inside = true};
	uint32_t without;
	bool guessed, ends, early;

	ret->count = 0;
	m.groups = count_groups(runtime);
	m.switching = is_switching(&m) && has_rest(&m);
	part.count = count_of_stack(&m);
	part.whole |= part.count < native->count;
	m.native = native = m.switching ? &leaf : &part;
	m.loops = count_loops(&m);
	without = count_without(&m);
	early = !m.switching && is_early(&m);
	guessed = without && !is_unsettled(&m) && is_not_told(&m);
	ret->cut = m.switching || lacks_frames(&m) || m.loops > m.groups + without ||
		   (guessed && m.groups);
	if (ret->cut && (guessed || is_of_other_state(&m)))
		m.groups = 0;
	while (m.native_at < native->count) {
		uint32_t frames = loop_frames(&m, m.native_at);

		m.loops -= frames > 0;
		if (early && (frames || is_in(&runtime->own, pc_at(native, m.native_at)))) {
			early = false;
			if (!frames) {
				put_native(&m, has_function(&m));
				put_group(&m, NULL);
				continue;
			}
		}
		if (!frames) {
			put_native(&m, serves(&m));
			m.behind_loop = false;
		} else if (without || !m.groups) {
			m.behind_loop = without && runtime->count;
			without = 0;
			while (frames--)
				put_native(&m, false);
		} else {
			const struct runtime_range *loop = loop_at(&m, m.native_at);
			bool serves_group = !m.inside || has_function(&m);

			while (frames--)
				put_native(&m, serves_group);
			m.behind_loop = !(loop->flags & RUNTIME_LOOP_COMPILED);
			put_group(&m, loop);
		}
	}
	ends = put_rest(&m) ? runtime->whole : native->whole;
	if (m.has_gap && !ends && ret->words[ret->count - 1] != GAP &&
	    ret->count < JITBPF_USER_WORDS_MAX)
		put_gap(&m);
}
