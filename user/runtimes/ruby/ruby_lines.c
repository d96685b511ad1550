/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/ruby/ruby_lines.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "runtimes/ruby/ruby_layout.h"

#define COUNTED_WORDS	54
#define COUNTS_IN_WORD	9
#define COUNT_BITS	7
#define BLOCK_WORDS	512
#define BLOCK_BYTES	80
#define BLOCK_BITS_AT	16
#define ENTRIES_AT_ONCE 128

struct positions {
	VEC(uint32_t) words; /* at which an entry begins, ascending */
	size_t max;
};

static int add_position(struct positions *positions, uint32_t word)
{
	return positions->words.size < positions->max ? vec_push(&positions->words, word) : 0;
}

static int add_counted(const uint64_t *table, uint32_t words, struct positions *positions)
{
	uint32_t before = 0;

	for (uint32_t i = 0; i < COUNTED_WORDS && i < words; i++) {
		uint64_t bits = table[i / COUNTS_IN_WORD] >> i % COUNTS_IN_WORD * COUNT_BITS;
		uint32_t count = bits & ((1u << COUNT_BITS) - 1);
		int err = count > before ? add_position(positions, i) : 0;

		if (err)
			return err;
		before = count;
	}
	return 0;
}

static int add_block(const uint8_t *block, uint32_t first, uint32_t words,
		     struct positions *positions)
{
	for (uint32_t i = 0; i < BLOCK_WORDS && first + i < words; i++) {
		uint64_t bits;
		int err = 0;

		memcpy(&bits, block + BLOCK_BITS_AT + i / 64 * 8, sizeof(bits));
		if (bits >> i % 64 & 1)
			err = add_position(positions, first + i);
		if (err)
			return err;
	}
	return 0;
}

static int read_positions(const struct process_memory *memory, uint64_t table, uint32_t words,
			  struct positions *positions)
{
	uint64_t counts[COUNTED_WORDS / COUNTS_IN_WORD];
	uint32_t counted = words < COUNTED_WORDS ? words : COUNTED_WORDS;
	size_t bytes = (counted + COUNTS_IN_WORD - 1) / COUNTS_IN_WORD * sizeof(*counts);
	uint8_t block[BLOCK_BYTES];
	int err = process_memory_read(memory, table, counts, bytes);

	err = err ?: add_counted(counts, words, positions);
	table += sizeof(counts);
	for (uint32_t at = COUNTED_WORDS; at < words && !err; at += BLOCK_WORDS) {
		/* The last word of the code is in no block if that would have no other. */
		if (positions->words.size == positions->max)
			break;
		err = process_memory_read(memory, table, block, sizeof(block));
		err = err ?: add_block(block, at, words, positions);
		table += sizeof(block);
	}
	return err == -EFAULT ? 0 : err;
}

/* A frame has the position behind the first word of its instruction. */
static int add_line(struct runtime_function *function, uint32_t word, uint32_t line)
{
	const struct runtime_line new = {.position = word ? word * 8 + 8 : 0, .line = line};
	size_t size = function->lines.size;

	if (size && function->lines.data[size - 1].line == line)
		return 0;
	return vec_push(&function->lines, new);
}

static int read_entries(const struct process_memory *memory, uint64_t entries,
			const struct positions *positions, struct runtime_function *function)
{
	uint8_t some[ENTRIES_AT_ONCE * RUBY_LINE_BYTES];
	size_t count = positions->words.size;

	for (size_t first = 0; first < count; first += ENTRIES_AT_ONCE) {
		size_t now = count - first < ENTRIES_AT_ONCE ? count - first : ENTRIES_AT_ONCE;
		int err = process_memory_read(memory, entries + first * RUBY_LINE_BYTES, some,
					      now * RUBY_LINE_BYTES);

		for (size_t i = 0; i < now && !err; i++) {
			int32_t line;

			memcpy(&line, some + i * RUBY_LINE_BYTES, sizeof(line));
			err = add_line(function, positions->words.data[first + i],
				       line > 0 ? (uint32_t)line : 0);
		}
		if (err)
			return err == -EFAULT ? 0 : err;
	}
	return 0;
}

int ruby_lines_read(const struct process_memory *memory, const uint64_t info[4], uint32_t words,
		    struct runtime_function *function)
{
	uint32_t count = (uint32_t)info[RUBY_LINES_COUNT / 8];
	struct positions positions = {.max = count < RUNTIME_LINES_MAX ? count : RUNTIME_LINES_MAX};
	int err = 0;

	if (!count || words > RUBY_CODE_WORDS_MAX)
		return 0;
	if (count == 1)
		err = add_position(&positions, 0);
	else
		err = read_positions(memory, info[RUBY_LINES_POSITION / 8], words, &positions);
	err = err ?: read_entries(memory, info[RUBY_LINES_ENTRIES / 8], &positions, function);
	vec_deinit(&positions.words);
	return err;
}
