/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/runtimes/native_merge.h"

#include <string.h>

#include "tests/unit/cases.h"

#define CODE	     0x100000ull /* its frames hold functions */
#define CODE_END     0x110000ull
#define OTHER	     0x400000ull
#define HANDLERS     0x300000ull /* which interpreted frames call */
#define HANDLERS_END 0x310000ull
#define JIT	     0x200000ull /* compiled code */
#define JIT_END	     0x210000ull
#define PUBLISHED    0x208000ull /* from there on */

#define NONE	       UINT64_MAX /* position of words for a frame that holds no function */
#define FUNCTION(n)    ((uint64_t)JITBPF_FRAME_RUNTIME << JITBPF_FRAME_KIND_SHIFT | (n))
#define INTERPRETER(a) ((uint64_t)JITBPF_FRAME_INTERPRETER << JITBPF_FRAME_KIND_SHIFT | (a))

static const struct runtime_recipe recipe = {
	.native =
		{
			.range_count = 2,
			.layout_count = 2,
			.range = {{CODE, CODE_END, 0, 0}, {JIT, JIT_END, 1, 0}},
			.layout[1] = {.flags = RUNTIME_NATIVE_COMPILED},
		},
	.loop_count = 1,
	.loops = {{HANDLERS, HANDLERS_END, 0, 0}},
};

static struct merged_stack merged;

static bool is_unknown(const void *context, uint64_t address)
{
	return address < PUBLISHED;
}

static void expect(const uint64_t *addresses, uint32_t count, const struct runtime_words *words,
		   uint32_t word_count, uint32_t flags, const uint64_t *expected,
		   uint32_t expected_count, bool cut)
{
	static struct runtime_frame frames[JITBPF_RUNTIME_FRAMES_MAX];
	const struct native_stack native = {
		.addresses = addresses, .count = count, .walked = count, .is_unknown = is_unknown};
	const struct runtime_stack runtime = {.recipe = &recipe,
					      .frames = frames,
					      .words = words,
					      .count = word_count,
					      .flags = flags};

	for (uint32_t i = 0; i < word_count; i++) {
		bool is_none = words[i].position == NONE;

		frames[i] = (struct runtime_frame){.check = is_none ? RUNTIME_NATIVE_NONE : 0};
	}
	memset(&merged, 0xee, sizeof(merged));
	runtime_merge_native(&native, &runtime, &merged);
	assert_int_equal(merged.count, expected_count);
	assert_memory_equal(merged.words, expected, expected_count * sizeof(*expected));
	assert_int_equal(merged.cut, cut);
}

CASE(each_frame_in_a_range_has_a_function)
{
	/* A return address at the end of the range is of a call in it; one at its start is not. */
	static const uint64_t addresses[] = {CODE, OTHER, CODE_END, CODE, OTHER};
	static const struct runtime_words words[] = {{FUNCTION(1), 10}, {FUNCTION(2), 20}};
	static const uint64_t expected[] = {
		INTERPRETER(CODE), FUNCTION(1), 10,   OTHER, INTERPRETER(CODE_END),
		FUNCTION(2),	   20,		CODE, OTHER};

	expect(addresses, 5, words, 2, JITBPF_RUNTIME_LEAF_RUNS, expected, 9, false);
}

CASE(a_leaf_without_a_frame_is_no_loss)
{
	static const uint64_t addresses[] = {CODE + 8, CODE + 16};
	static const struct runtime_words words[] = {{0, 0}, {FUNCTION(2), 20}};
	static const uint64_t expected[] = {CODE + 8, INTERPRETER(CODE + 16), FUNCTION(2), 20};

	expect(addresses, 2, words, 2, 0, expected, 4, false);
}

CASE(frames_without_functions_are_cut)
{
	static const uint64_t addresses[] = {CODE + 8, CODE + 16, OTHER, CODE + 24};
	static const struct runtime_words words[] = {{0, 0}, {FUNCTION(2), 20}};
	static const uint64_t expected[] = {
		CODE + 8, INTERPRETER(CODE + 16), FUNCTION(2), 20, OTHER, CODE + 24};

	/* The last frame is one that the kernel's walk has not reached. */
	expect(addresses, 4, words, 2, 0, expected, 6, true);
	expect(addresses, 2, words, 2, JITBPF_RUNTIME_LEAF_RUNS, expected, 4, true);
	expect(addresses, 1, NULL, 0, 0, expected, 1, false);
}

CASE(a_frame_that_holds_none_is_no_loss)
{
	static const uint64_t addresses[] = {CODE + 8, CODE + 16};
	static const struct runtime_words words[] = {{0, NONE}, {0, NONE}};

	expect(addresses, 2, words, 2, JITBPF_RUNTIME_LEAF_RUNS, addresses, 2, false);
}

CASE(compiled_functions_are_marked_unless_they_are_published)
{
	static const uint64_t addresses[] = {JIT, PUBLISHED + 1, CODE + 8, JIT + 8};
	static const struct runtime_words words[] = {
		{FUNCTION(1), 0}, {FUNCTION(2), 0}, {FUNCTION(3), 30}, {FUNCTION(4), 0}};
	static const uint64_t expected[] = {INTERPRETER(JIT),
					    FUNCTION(1),
					    JITBPF_POSITION_COMPILED,
					    PUBLISHED + 1,
					    INTERPRETER(CODE + 8),
					    FUNCTION(3),
					    30,
					    INTERPRETER(JIT + 8),
					    FUNCTION(4),
					    JITBPF_POSITION_COMPILED};

	expect(addresses, 4, words, 4, JITBPF_RUNTIME_LEAF_RUNS, expected, 10, false);
}

CASE(code_that_runs_an_interpreted_function_is_of_it)
{
	static const uint64_t addresses[] = {HANDLERS,	   CODE + 8, HANDLERS_END,  CODE + 16,
					     HANDLERS + 8, JIT + 8,  HANDLERS + 16, OTHER};
	static const struct runtime_words words[] = {
		{FUNCTION(1), 10}, {FUNCTION(2), 20}, {FUNCTION(3), 0}};
	static const uint64_t expected[] = {INTERPRETER(HANDLERS),
					    INTERPRETER(CODE + 8),
					    FUNCTION(1),
					    10,
					    INTERPRETER(HANDLERS_END),
					    INTERPRETER(CODE + 16),
					    FUNCTION(2),
					    20,
					    HANDLERS + 8,
					    INTERPRETER(JIT + 8),
					    FUNCTION(3),
					    JITBPF_POSITION_COMPILED,
					    HANDLERS + 16,
					    OTHER};

	expect(addresses, 8, words, 3, 0, expected, 14, false);
	expect(addresses, 1, NULL, 0, 0, addresses, 1, false);
}

CASE(the_longest_stack_has_room)
{
	static uint64_t addresses[JITBPF_USER_FRAMES_MAX];
	static struct runtime_words words[JITBPF_USER_FRAMES_MAX];
	static uint64_t expected[3 * JITBPF_USER_FRAMES_MAX];

	for (uint32_t i = 0; i < JITBPF_USER_FRAMES_MAX; i++) {
		addresses[i] = expected[3 * i] = CODE + 1 + i;
		expected[3 * i] |= INTERPRETER(0);
		words[i] = (struct runtime_words){FUNCTION(i + 1), i};
		expected[3 * i + 1] = FUNCTION(i + 1);
		expected[3 * i + 2] = i;
	}
	expect(addresses, JITBPF_USER_FRAMES_MAX, words, JITBPF_USER_FRAMES_MAX,
	       JITBPF_RUNTIME_LEAF_RUNS, expected, 3 * JITBPF_USER_FRAMES_MAX, false);
}

static void merge_beyond(const uint64_t *frame_pointers, uint32_t walked,
			 const struct runtime_frame *frames, const struct runtime_words *words,
			 uint32_t count)
{
	static const uint64_t addresses[] = {OTHER, CODE + 8, CODE + 16, OTHER, CODE + 24};
	const struct native_stack native = {.addresses = addresses,
					    .count = 5,
					    .walked = walked,
					    .frame_pointers = frame_pointers,
					    .is_unknown = is_unknown};
	const struct runtime_stack runtime = {.recipe = &recipe,
					      .frames = frames,
					      .words = words,
					      .count = count,
					      .flags = JITBPF_RUNTIME_LEAF_RUNS};

	memset(&merged, 0xee, sizeof(merged));
	runtime_merge_native(&native, &runtime, &merged);
}

CASE(frames_beyond_the_walk_are_known_by_their_frame_pointer)
{
	static const uint64_t frame_pointers[] = {0, 0, 0x200, 0x300, 0x400};
	static const struct runtime_frame frames[] = {{0}, {.owner = 0x200}, {.owner = 0x400}};
	static const struct runtime_words words[] = {
		{FUNCTION(1), 10}, {FUNCTION(2), 20}, {FUNCTION(3), 30}};
	static const uint64_t expected[] = {OTHER,
					    INTERPRETER(CODE + 8),
					    FUNCTION(1),
					    10,
					    INTERPRETER(CODE + 16),
					    FUNCTION(2),
					    20,
					    OTHER,
					    INTERPRETER(CODE + 24),
					    FUNCTION(3),
					    30};

	merge_beyond(frame_pointers, 2, frames, words, 3);
	assert_int_equal(merged.count, 11);
	assert_memory_equal(merged.words, expected, sizeof(expected));
	assert_false(merged.cut);
}

CASE(a_wrong_guess_of_a_frame_is_not_used)
{
	static const uint64_t frame_pointers[] = {0, 0x100, 0x200, 0x300, 0x400};
	static const struct runtime_frame frames[] = {
		{.owner = 0x80}, {.owner = 0x180}, {.owner = 0x200}, {.owner = 0x408}};
	static const struct runtime_words words[] = {
		{FUNCTION(1), 10}, {FUNCTION(2), 20}, {FUNCTION(3), 30}, {FUNCTION(4), 40}};
	static const uint64_t expected[] = {
		OTHER, CODE + 8, INTERPRETER(CODE + 16), FUNCTION(3), 30, OTHER, CODE + 24};

	merge_beyond(frame_pointers, 1, frames, words, 4);
	assert_int_equal(merged.count, 7);
	assert_memory_equal(merged.words, expected, sizeof(expected));
	assert_true(merged.cut);
}

CASE(a_frame_of_the_walk_has_no_function_from_beyond_it)
{
	static const uint64_t frame_pointers[] = {0, 0x200, 0x200, 0x200, 0x200};
	static const struct runtime_frame frames[] = {{.owner = 0x200}};
	static const struct runtime_words words[] = {{FUNCTION(1), 10}};
	static const uint64_t expected[] = {OTHER, CODE + 8, CODE + 16, OTHER, CODE + 24};

	merge_beyond(frame_pointers, 5, frames, words, 1);
	assert_int_equal(merged.count, 5);
	assert_memory_equal(merged.words, expected, sizeof(expected));
}
