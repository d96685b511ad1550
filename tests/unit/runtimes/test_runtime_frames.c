/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/runtime_frames.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/scope.h"
#include "runtimes/runtime_check.h"
#include "tests/unit/cases.h"

#define BASE	0x1000
#define POINTER 0x1010 /* of the thread */

static uint64_t words[128];

static int read_words(void *context, uint64_t address, void *buf, size_t size_bytes)
{
	if (address < BASE || address - BASE > sizeof(words) ||
	    size_bytes > sizeof(words) - (address - BASE))
		return -EFAULT;
	memcpy(buf, (uint8_t *)words + (address - BASE), size_bytes);
	return 0;
}

static const struct process_memory memory = {.read = read_words};

static uint64_t at(size_t word)
{
	return BASE + 8 * word;
}

/* A frame is four words: function, position, previous, entry. */
static const struct runtime_recipe plain = {
	.base = 8,
	.base_kind = RUNTIME_BASE_THREAD_POINTER,
	.step_count = 2,
	.step = {0, 16},
	.function_at = 0,
	.position_at = 8,
	.previous_at = 16,
	.entry_at = 24,
	.entry_mask = 0xff,
	.entry_value = 3,
	.position_mask = UINT64_MAX,
	.check = {.offset = 8, .size_bytes = 16, .name_count = 1, .name_at = {0}, .name_word = {8}},
};

static void frame(size_t word, uint64_t function, uint64_t position, uint64_t previous,
		  uint64_t entry)
{
	words[word] = function;
	words[word + 1] = position;
	words[word + 2] = previous;
	words[word + 3] = entry;
}

/* Two frames: 20, 24. Their functions: 40, 44. */
static void make(void)
{
	memset(words, 0, sizeof(words));
	words[3] = at(8); /* the thread's object, whose newest frame is at its word 2 */
	words[10] = at(20);
	frame(20, at(40), 0x1111, at(24), 0x77ffffff00);
	frame(24, at(44), 0x2222, 0, 3);
	for (size_t i = 40; i < 48; i++)
		words[i] = i;
	words[40] = words[44] = at(50);
	words[51] = 0x123;
}

static const struct runtime_thread thread = {.thread_pointer = POINTER};

static size_t walk(const struct runtime_recipe *recipe, struct runtime_frame *ret, int expected)
{
	size_t count = 99;

	assert_int_equal(runtime_frames_walk(&memory, recipe, &thread, 8, ret, &count), expected);
	return count;
}

CASE(frames_with_positions_checks_and_entries)
{
	struct runtime_frame frames[8];
	uint64_t check;

	make();
	assert_int_equal(walk(&plain, frames, 0), 2);
	assert_true(frames[0].function == at(40) && frames[0].position == 0x1111);
	assert_true(frames[1].function == at(44) && frames[1].position == 0x2222);
	assert_int_equal(frames[0].check & 1, 0);
	assert_int_equal(frames[1].check & 1, 1);
	assert_int_equal(runtime_check_read(&memory, &plain.check, at(40), false, &check), 0);
	assert_true(frames[0].check == check);
	assert_int_equal(runtime_check_read(&memory, &plain.check, at(44), false, &check), 0);
	assert_true((frames[1].check & ~1ull) == check);
}

CASE(any_word_of_a_check_changes_it)
{
	uint64_t was, is;

	make();
	assert_int_equal(runtime_check_read(&memory, &plain.check, at(40), false, &was), 0);
	for (size_t word = 41; word <= 51; word += word == 42 ? 9 : 1) {
		words[word] ^= 1ull << 40;
		assert_int_equal(runtime_check_read(&memory, &plain.check, at(40), false, &is), 0);
		assert_true(is != was);
		words[word] ^= 1ull << 40;
	}
	words[40] = 8;
	assert_int_equal(runtime_check_read(&memory, &plain.check, at(40), false, &is), -EFAULT);
	/* No name. */
	words[40] = 0;
	assert_int_equal(runtime_check_read(&memory, &plain.check, at(40), false, &is), 0);
	assert_true(is != was);
}

CASE(single_words_of_a_check)
{
	struct runtime_check check = plain.check;
	uint64_t was, is;

	make();
	check.word_count = 1;
	check.word[0] = 8 * 7;
	assert_int_equal(runtime_check_read(&memory, &plain.check, at(40), false, &is), 0);
	assert_int_equal(runtime_check_read(&memory, &check, at(40), false, &was), 0);
	assert_true(is != was);
	words[47]++;
	assert_int_equal(runtime_check_read(&memory, &check, at(40), false, &is), 0);
	assert_true(is != was);
	check.word_count = RUNTIME_CHECK_WORDS_MAX + 1;
	assert_int_equal(runtime_check_read(&memory, &check, at(40), false, &is), -EINVAL);
}

/* Object 40 leads to 60, and that to 70. */
CASE(links_of_a_check)
{
	/* A half of a word of the object itself, then two words of the next one, then one of the
	 * last. */
	static const struct runtime_check check = {
		.link_count = 4,
		.link = {{.step = RUNTIME_NO_OFFSET, .word_at = 8, .word_mask = ~0ull << 32},
			 {.step = 16, .word_at = 8, .word_mask = UINT64_MAX},
			 {.step = RUNTIME_NO_OFFSET, .word_at = 16, .word_mask = 0xff},
			 {.step = 24, .word_at = RUNTIME_NO_OFFSET, .folds_address = true}},
	};
	static const struct {
		size_t word;
		uint64_t bit;
		bool counts;
	} bits[] = {
		{41, 1ull << 32, true}, {41, 1, false},	  {43, 1, false}, {61, 1, true},
		{62, 1, true},		{62, 256, false}, {63, 8, true},  {70, 1, false},
	};
	struct runtime_check bad = check;
	uint64_t was, is;

	make();
	words[42] = at(60);
	words[63] = at(70);
	assert_int_equal(runtime_check_read(&memory, &check, at(40), false, &was), 0);
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		words[bits[i].word] ^= bits[i].bit;
		assert_int_equal(runtime_check_read(&memory, &check, at(40), false, &is), 0);
		assert_int_equal(is != was, bits[i].counts);
		words[bits[i].word] ^= bits[i].bit;
	}
	/* The function alone; a link that leads nowhere. */
	bad.link_count = 1;
	assert_int_equal(runtime_check_read(&memory, &bad, at(40), false, &is), 0);
	assert_true(is ==
		    (runtime_check_fold(RUNTIME_CHECK_BEGIN, words[41] & ~0ull << 32) & ~1ull));
	words[42] = 8;
	assert_int_equal(runtime_check_read(&memory, &check, at(40), false, &is), -EFAULT);
}

CASE(marks_have_their_address)
{
	struct runtime_recipe recipe = plain;
	struct runtime_frame frames[8];

	make();
	recipe.entry_is_mark = true;
	assert_int_equal(walk(&recipe, frames, 0), 2);
	assert_true(frames[1].function == 0 && frames[1].position == at(24));
	assert_int_equal(frames[1].check, 1);
}

CASE(tags_and_masks)
{
	struct runtime_recipe recipe = plain;
	struct runtime_frame frames[8];

	make();
	words[20] |= 3;
	words[21] = 0x500000007;
	recipe.function_clear = 3;
	recipe.position_mask = UINT32_MAX;
	recipe.entry_mask = recipe.entry_value = 0;
	assert_int_equal(walk(&recipe, frames, 0), 2);
	assert_true(frames[0].function == at(40));
	assert_int_equal(frames[0].position, 7);
	assert_int_equal(frames[0].check & 1, 1);
	recipe.position_at = RUNTIME_NO_OFFSET;
	assert_int_equal(walk(&recipe, frames, 0), 2);
	assert_int_equal(frames[0].position, 0);
}

CASE(no_frames_circles_and_faults)
{
	struct runtime_recipe recipe = plain;
	struct runtime_frame frames[8];

	make();
	words[22] = at(20);
	assert_int_equal(walk(&plain, frames, 0), 8);
	words[22] = 0x99;
	assert_int_equal(walk(&plain, frames, -EFAULT), 1);
	words[20] = 8; /* a function that cannot be read */
	assert_int_equal(walk(&plain, frames, -EFAULT), 1);
	assert_int_equal(frames[0].check, 0);
	words[10] = 0;
	assert_int_equal(walk(&plain, frames, 0), 0);
	words[3] = 0;
	assert_int_equal(walk(&plain, frames, 0), 0);
	words[3] = 8;
	assert_int_equal(walk(&plain, frames, -EFAULT), 0);
	make();
	recipe.base = (int64_t)at(3);
	recipe.base_kind = RUNTIME_BASE_ADDRESS;
	assert_int_equal(walk(&recipe, frames, 0), 2);
}

/* The state that has the lock is used if it is this thread's, else the one at the base. */
CASE(test_holder)
{
	struct runtime_recipe recipe = plain;
	struct runtime_frame frames[8];

	make();
	recipe.holder = (struct runtime_holder){.at = at(60), .thread_at = 8, .step = 1};
	words[60] = at(64); /* another state: its thread, its newest frame */
	words[65] = POINTER;
	words[66] = at(24);
	assert_int_equal(walk(&recipe, frames, 0), 1);
	words[65] = POINTER + 8;
	assert_int_equal(walk(&recipe, frames, 0), 2);
	words[60] = 0;
	assert_int_equal(walk(&recipe, frames, 0), 2);
	words[60] = 8;
	assert_int_equal(walk(&recipe, frames, 0), 2);
	recipe.holder.at = 8;
	assert_int_equal(walk(&recipe, frames, 0), 2);
}
