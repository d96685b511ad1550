/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of lines, made by hand. */
#include "runtimes/ruby/ruby_lines.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "runtimes/ruby/ruby_layout.h"
#include "tests/unit/cases.h"

#define ENTRIES	   0x1000
#define POSITIONS  0x100000
#define WORDS	   6  /* of counts */
#define BLOCK	   10 /* words */
#define WORD_LINES (RUBY_LINE_BYTES / 4)

static struct {
	uint32_t entries[3 * RUNTIME_LINES_MAX + 3];
	uint64_t positions[WORDS + 600 * BLOCK];
	size_t reads;
} image;

static int read_image(void *context, uint64_t address, void *buf, size_t size_bytes)
{
	(void)context;
	image.reads++;
	if (address >= ENTRIES && address + size_bytes <= ENTRIES + sizeof(image.entries))
		memcpy(buf, (uint8_t *)image.entries + (address - ENTRIES), size_bytes);
	else if (address >= POSITIONS &&
		 address + size_bytes <= POSITIONS + sizeof(image.positions))
		memcpy(buf, (uint8_t *)image.positions + (address - POSITIONS), size_bytes);
	else
		return -EFAULT;
	return 0;
}

static const struct process_memory memory = {.read = read_image};

/* Entries of lines 100, 101, and so on begin at these words of code. */
static void make(const uint32_t *words, size_t count)
{
	memset(&image, 0, sizeof(image));
	for (size_t i = 0; i < count; i++) {
		uint64_t *block = image.positions + WORDS;

		image.entries[i * WORD_LINES] = 100 + i;
		if (words[i] >= 54) {
			block += (words[i] - 54) / 512 * BLOCK + 2;
			block[(words[i] - 54) % 512 / 64] |= 1ull << (words[i] - 54) % 64;
		}
		/* How many begin up to a word. */
		for (uint32_t word = words[i]; word < 54; word++)
			image.positions[word / 9] += 1ull << word % 9 * 7;
	}
}

static void read_lines(uint64_t entries, uint64_t count, uint64_t positions, uint32_t words,
		       struct runtime_function *ret)
{
	const uint64_t info[4] = {
		[RUBY_LINES_ENTRIES / 8] = entries,
		[RUBY_LINES_COUNT / 8] = count,
		[RUBY_LINES_POSITION / 8] = positions,
	};

	*ret = (struct runtime_function){.code = 0x5000};
	image.reads = 0;
	assert_int_equal(ruby_lines_read(&memory, info, words, ret), 0);
}

/* A frame has the position behind the first word of its instruction. */
static uint32_t line_of(const struct runtime_function *function, uint32_t word)
{
	return runtime_function_line(function, 0x5000 + (word + 1) * 8);
}

CASE(counted_words_and_blocks)
{
	static const uint32_t words[] = {0, 2, 8, 9, 53, 54, 118, 565, 566, 700, 1079};
	struct runtime_function function;

	make(words, ARRAY_SIZE(words));
	read_lines(ENTRIES, ARRAY_SIZE(words), POSITIONS, 1080, &function);
	assert_int_equal(function.lines.size, ARRAY_SIZE(words));
	for (uint32_t i = 0; i < ARRAY_SIZE(words); i++) {
		assert_int_equal(line_of(&function, words[i]), 100 + i);
		if (i)
			assert_int_equal(line_of(&function, words[i] - 1), 100 + i - 1);
	}
	assert_int_equal(line_of(&function, 5000), 110);
	runtime_function_deinit(&function);
}

/* Nothing begins at the first word of some code, such as that of define_method. */
CASE(a_first_entry_later)
{
	static const uint32_t words[] = {3, 60};
	struct runtime_function function;

	make(words, 2);
	read_lines(ENTRIES, 2, POSITIONS, 100, &function);
	assert_int_equal(line_of(&function, 2), 0);
	assert_int_equal(line_of(&function, 3), 100);
	assert_int_equal(line_of(&function, 60), 101);
	runtime_function_deinit(&function);
}

CASE(one_entry_has_no_table)
{
	static const uint32_t words[] = {0};
	struct runtime_function function;

	make(words, 1);
	read_lines(ENTRIES, 1, 0, 10, &function);
	assert_int_equal(function.lines.size, 1);
	assert_int_equal(line_of(&function, 0), 100);
	assert_int_equal(line_of(&function, 9), 100);
	runtime_function_deinit(&function);
}

CASE(entries_of_one_line_are_one)
{
	static const uint32_t words[] = {0, 4, 8};
	struct runtime_function function;

	make(words, 3);
	image.entries[WORD_LINES] = 100;
	read_lines(ENTRIES, 3, POSITIONS, 20, &function);
	assert_int_equal(function.lines.size, 2);
	assert_int_equal(line_of(&function, 7), 100);
	assert_int_equal(line_of(&function, 8), 102);
	runtime_function_deinit(&function);
}

CASE(a_negative_line_is_none)
{
	static const uint32_t words[] = {0, 4};
	struct runtime_function function;

	make(words, 2);
	image.entries[WORD_LINES] = 0x80000000;
	read_lines(ENTRIES, 2, POSITIONS, 20, &function);
	assert_int_equal(line_of(&function, 4), 0);
	runtime_function_deinit(&function);
}

CASE(what_cannot_be_read_has_no_lines)
{
	static const uint32_t words[] = {0, 4, 60};
	static const struct {
		uint64_t entries, count, positions;
		uint32_t words;
	} cases[] = {
		{0x10, 3, POSITIONS, 100},
		{ENTRIES, 3, 0x10, 100},
		{ENTRIES, 3, UINT64_MAX - 8, 100},
		{ENTRIES, 0, POSITIONS, 100},
		{ENTRIES, 3, POSITIONS, RUBY_CODE_WORDS_MAX + 1},
		{ENTRIES, 3, POSITIONS, 0},
	};

	make(words, 3);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct runtime_function function;

		read_lines(cases[i].entries, cases[i].count, cases[i].positions, cases[i].words,
			   &function);
		assert_int_equal(function.lines.size, 0);
		runtime_function_deinit(&function);
	}
}

/* All bits of the table are set: as many lines, and as few reads, as there may be. */
CASE(the_largest_table)
{
	struct runtime_function function;

	make(NULL, 0);
	memset(image.positions, 0xff, sizeof(image.positions));
	for (size_t i = 0; i < RUNTIME_LINES_MAX; i++)
		image.entries[i * WORD_LINES] = i + 1;
	read_lines(ENTRIES, UINT32_MAX, POSITIONS, RUBY_CODE_WORDS_MAX, &function);
	assert_int_equal(function.lines.size, RUNTIME_LINES_MAX);
	assert_true(image.reads < 200);
	for (size_t i = 1; i < function.lines.size; i++)
		assert_true(function.lines.data[i].position > function.lines.data[i - 1].position);
	runtime_function_deinit(&function);
	/* It is too short for so much code: what it says is of code before that. */
	memset(image.positions, 0, sizeof(image.positions));
	read_lines(ENTRIES, UINT32_MAX, POSITIONS, RUBY_CODE_WORDS_MAX, &function);
	assert_int_equal(function.lines.size, 0);
	assert_true(image.reads < 520);
	runtime_function_deinit(&function);
}
