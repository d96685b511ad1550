/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Words that a stack still has are those that its frames got, whatever was there between. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cases.h"
#include "unwind/runtimes/known_stacks.h"

#define DEPTH  60
#define ROUNDS 20000

static uint64_t random_state = 88172645463325252ull;

static uint32_t below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)((random_state >> 32) % limit);
}

static struct runtime_frame some_frame(void)
{
	return (struct runtime_frame){below(3), below(3), below(3)};
}

/* What a frame of a recipe shows. */
static struct runtime_words words_of(uint32_t recipe, const struct runtime_frame *frame)
{
	return (struct runtime_words){recipe,
				      frame->function << 8 | frame->position << 4 | frame->check};
}

static bool is_known(const struct runtime_frame *frame)
{
	return frame->function || frame->position;
}

static struct jitbpf_runtime_frames *make_part(void)
{
	struct jitbpf_runtime_frames *part =
		calloc(1, sizeof(*part) + DEPTH * sizeof(struct runtime_frame));

	assert_non_null(part);
	return part;
}

/* Change the innermost frames of a part, and their number. */
static void change(struct jitbpf_runtime_frames *part)
{
	uint32_t count = below(DEPTH + 1), kept = below(part->count + 1);

	if (kept > count)
		kept = count;
	memmove(part->frames + count - kept, part->frames + part->count - kept,
		kept * sizeof(part->frames[0]));
	part->count = count;
	for (uint32_t i = 0; i < count - kept; i++)
		part->frames[i] = some_frame();
}

static void fill(struct known_stack *stack, uint32_t recipe,
		 const struct jitbpf_runtime_frames *part, uint32_t wanted)
{
	struct runtime_words *words = known_stack_words(stack);
	uint32_t unknown = 0;

	for (uint32_t i = 0; i < wanted; i++) {
		if (is_known(&part->frames[i]))
			words[i] = words_of(recipe, &part->frames[i]);
		else
			unknown = i + 1;
	}
	stack->known = part->count - unknown;
}

CASE(test_words_are_those_of_the_frames)
{
	struct jitbpf_runtime_frames *part = make_part(), *other = make_part();
	struct known_stacks stacks = {0};
	uint64_t now_ns = 1, found = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct known_stack *stack = known_stacks_of(&stacks, 7 + below(2) * KNOWN_STACKS);
		struct jitbpf_runtime_frames *of = below(10) ? part : other;
		uint32_t recipe = below(20) ? 1 : 2, wanted;

		now_ns += below(100) ? 1 : KNOWN_STACK_NS;
		change(of);
		wanted = known_stack_set(stack, recipe, of, now_ns);
		found += of->count - wanted;
		assert_true(wanted <= of->count);
		fill(stack, recipe, of, wanted);
		assert_true(known_stack_is(stack, recipe, of));
		assert_false(known_stack_is(stack, recipe + 1, of));
		for (uint32_t i = of->count - stack->known; i < of->count; i++) {
			struct runtime_words words = words_of(recipe, &of->frames[i]);

			assert_memory_equal(&known_stack_words(stack)[i], &words, sizeof(words));
		}
	}
	assert_true(found > ROUNDS);
	known_stacks_deinit(&stacks);
	free(part);
	free(other);
}

/* So the functions of a stack that never changes are looked up now and then. */
CASE(test_time)
{
	struct jitbpf_runtime_frames *part = make_part();
	struct known_stacks stacks = {0};
	struct known_stack *stack = known_stacks_of(&stacks, 1);

	part->count = 1;
	part->frames[0] = (struct runtime_frame){1, 1, 1};
	assert_int_equal(known_stack_set(stack, 1, part, 5), 1);
	stack->known = 1;
	assert_int_equal(known_stack_set(stack, 1, part, 4 + KNOWN_STACK_NS), 0);
	assert_int_equal(known_stack_set(stack, 1, part, 5 + KNOWN_STACK_NS), 1);
	known_stacks_deinit(&stacks);
	free(part);
}
