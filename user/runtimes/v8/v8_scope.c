/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/v8/v8_scope.h"

#include <errno.h>

#include "runtimes/v8/v8_text.h"

/* Words of the object. V8 13.6 has the position in front of the variables, others behind. */
enum {
	FLAGS = 1,
	VARIABLES = 3,
	START = 4,
	FIRST = 1, /* of the words that scope_variables counts */
	BEFORE = 3,
};

enum {
	HAS_SAVED_CLASS = 1 << 10,
	HAS_NAME = 3 << 12,
	HAS_INFERRED_NAME = 1 << 14,
};

#define VARIABLES_MAX (1 << 20)
#define INLINED_MAX   75 /* so many variables, and more, have their names in a table */

static int word_at(const struct v8_heap *heap, uint64_t scope, int32_t word, uint64_t *ret)
{
	return v8_word(heap, scope, word * 8, ret);
}

static int integer_at(const struct v8_heap *heap, uint64_t scope, int32_t word, int32_t *ret)
{
	return v8_integer(heap, scope, word * 8, ret);
}

/* Read a name, which is a string or, for none, another object or 0. */
static int name_at(const struct v8_heap *heap, uint64_t scope, int32_t word, uint64_t *ret)
{
	uint64_t name;
	uint16_t type;
	int err = word_at(heap, scope, word, &name);

	*ret = 0;
	if (err || !name)
		return err;
	err = v8_type(heap, name, &type);
	*ret = !err && v8_is_text(type) ? name : 0;
	return err;
}

/* The flags are a small integer, or the lower half of a word whose upper half is 0. */
static int read_flags(const struct v8_heap *heap, uint64_t scope, uint32_t *ret)
{
	uint64_t word;
	int err = word_at(heap, scope, FLAGS, &word);

	if (err)
		return err;
	*ret = (uint32_t)word ?: (uint32_t)(word >> 32);
	return (uint32_t)word && word >> 32 ? -EBADMSG : 0;
}

int v8_scope_read(const struct v8_heap *heap, uint64_t scope, struct v8_scope *ret)
{
	int32_t at = FIRST + heap->file->scope_variables, position = START, count, ignored;
	struct v8_scope read = {0};
	uint32_t flags;
	int err = read_flags(heap, scope, &flags);

	err = err ?: integer_at(heap, scope, VARIABLES, &count);
	if (err)
		return err;
	if (count < 0 || count > VARIABLES_MAX)
		return -EBADMSG;
	at += (count < INLINED_MAX ? count : 1) + count;
	if (flags & HAS_SAVED_CLASS)
		at++;
	if (flags & HAS_NAME) {
		err = name_at(heap, scope, at, &read.name);
		err = err ?: integer_at(heap, scope, at + 1, &ignored);
		at += 2;
	}
	if (!err && flags & HAS_INFERRED_NAME)
		err = name_at(heap, scope, at++, &read.inferred_name);
	if (heap->file->scope_variables == BEFORE)
		position = at;
	err = err ?: integer_at(heap, scope, position, &read.start);
	err = err ?: integer_at(heap, scope, position + 1, &read.end);
	if (err)
		return err;
	if (read.start < 0 || read.end < read.start)
		return -EBADMSG;
	*ret = read;
	return 0;
}
