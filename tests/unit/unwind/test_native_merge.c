/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/runtimes/native_merge.h"

#include <string.h>

#include "tests/unit/cases.h"

#define CODE	 0x100000ull /* its frames hold functions */
#define CODE_END 0x110000ull
#define OTHER	 0x400000ull

#define FUNCTION(n)    ((uint64_t)JITBPF_FRAME_RUNTIME << JITBPF_FRAME_KIND_SHIFT | (n))
#define INTERPRETER(a) ((uint64_t)JITBPF_FRAME_INTERPRETER << JITBPF_FRAME_KIND_SHIFT | (a))

static const struct runtime_recipe recipe = {
	.native = {.range_count = 1, .layout_count = 1, .range = {{CODE, CODE_END, 0, 0}}},
};

static struct merged_stack merged;

static void expect(const uint64_t *addresses, uint32_t count, const struct runtime_words *words,
		   uint32_t word_count, uint32_t flags, const uint64_t *expected,
		   uint32_t expected_count, bool cut)
{
	const struct native_stack native = {.addresses = addresses, .count = count};
	const struct runtime_stack runtime = {
		.recipe = &recipe, .words = words, .count = word_count, .flags = flags};

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
