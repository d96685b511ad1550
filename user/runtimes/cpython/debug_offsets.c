/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/cpython/debug_offsets.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/scope.h"

/* The table is an array of words of 8 bytes. */
enum {
	WORD_COOKIE = 0,
	WORD_VERSION = 1,
	WORD_FREE_THREADED = 2,
	WORDS_MAX = 96,
};

/* An offset: the word that has it and the word with the size of its object, by version. */
struct published {
	uint8_t word_3_13, size_3_13, word_3_14, size_3_14;
	uint8_t bytes;	 /* of the member that is there */
	uint16_t member; /* of struct cpython_layout */
};

#define MEMBER(name) offsetof(struct cpython_layout, name)

static const struct published published[] = {
	{5, 3, 5, 3, 8, MEMBER(interpreters_head)},
	{8, 6, 8, 6, 8, MEMBER(interpreter_next)},
	{9, 6, 9, 6, 8, MEMBER(interpreter_threads)},
	{21, 19, 24, 22, 8, MEMBER(thread_next)},
	{22, 19, 25, 22, 8, MEMBER(thread_interpreter)},
	{23, 19, 26, 22, 8, MEMBER(thread_frame)},
	{24, 19, 27, 22, 8, MEMBER(thread_id)},
	{29, 28, 32, 31, 8, MEMBER(frame_previous)},
	{30, 28, 33, 31, 8, MEMBER(frame_code)},
	{31, 28, 34, 31, 8, MEMBER(frame_position)},
	{33, 28, 36, 31, 4, MEMBER(frame_entry)},
	{35, 34, 40, 39, 8, MEMBER(code_file)},
	{37, 34, 42, 39, 8, MEMBER(code_name)},
	{38, 34, 43, 39, 8, MEMBER(code_lines)},
	{39, 34, 44, 39, 4, MEMBER(code_first_line)},
	{43, 34, 48, 39, 2, MEMBER(code_bytes)},
};

/* Offsets that this module takes as given in all versions, and where they are published. */
static const struct {
	uint8_t word_3_13, word_3_14;
	uint8_t value;
} given[] = {
	{45, 51, CPYTHON_OBJECT_TYPE}, {47, 53, CPYTHON_TYPE_NAME},  {65, 75, CPYTHON_OBJECT_SIZE},
	{66, 76, CPYTHON_BYTES_DATA},  {68, 78, CPYTHON_TEXT_STATE}, {69, 79, CPYTHON_TEXT_LENGTH},
};

enum { ASCII_BYTES_3_13 = 70, ASCII_BYTES_3_14 = 80 };

#define TEXT_BYTES_MAX 256 /* more than the size of a string object without its characters */

struct engine_version cpython_version_of(uint32_t hex)
{
	return (struct engine_version){
		.part = {hex >> 24, hex >> 16 & 0xff, hex >> 8 & 0xff},
		.parts = 3,
	};
}

static int layout_from(const uint64_t *words, bool is_3_13, struct cpython_layout *layout)
{
	uint64_t ascii = words[is_3_13 ? ASCII_BYTES_3_13 : ASCII_BYTES_3_14];

	for (uint32_t i = 0; i < ARRAY_SIZE(published); i++) {
		const struct published *p = &published[i];
		uint64_t at = words[is_3_13 ? p->word_3_13 : p->word_3_14];
		uint64_t size_bytes = words[is_3_13 ? p->size_3_13 : p->size_3_14];
		uint16_t offset = (uint16_t)at;

		/* Offsets of a recipe are signed. */
		if (at > INT16_MAX || at + p->bytes > size_bytes)
			return -EBADMSG;
		memcpy((uint8_t *)layout + p->member, &offset, sizeof(offset));
	}
	for (uint32_t i = 0; i < ARRAY_SIZE(given); i++) {
		if (words[is_3_13 ? given[i].word_3_13 : given[i].word_3_14] != given[i].value)
			return -EBADMSG;
	}
	if (ascii < CPYTHON_TEXT_STATE || ascii > TEXT_BYTES_MAX)
		return -EBADMSG;
	/* A string that is not ASCII has the size and the address of its UTF-8, too. */
	layout->text_ascii_bytes = (uint16_t)ascii;
	layout->text_compact_bytes = (uint16_t)(ascii + 2 * sizeof(uint64_t));
	return 0;
}

int cpython_debug_offsets_read(const struct process_memory *memory, uint64_t runtime,
			       struct engine_version *version, struct cpython_layout *layout)
{
	struct cpython_layout made = *layout;
	uint64_t words[WORDS_MAX];
	int err = process_memory_read(memory, runtime, words, sizeof(words));

	if (err)
		return err;
	if (memcmp(&words[WORD_COOKIE], "xdebugpy", 8) != 0)
		return -EBADMSG;
	*version = cpython_version_of((uint32_t)words[WORD_VERSION]);
	if (version->part[0] != 3 || version->part[1] != layout->minor)
		return -EBADMSG;
	if (words[WORD_FREE_THREADED])
		return -ENOTSUP;
	err = layout_from(words, layout->minor == 13, &made);
	if (err)
		return err;
	made.code_identity = made.code_first_line & ~7u;
	made.code_identity_end = made.code_lines + sizeof(uint64_t);
	*layout = made;
	return 0;
}
