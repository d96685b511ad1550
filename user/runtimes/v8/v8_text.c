/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/v8/v8_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/utf8.h"

/* Parts of a type. Types from NO_TEXT on are of other objects. */
enum {
	FORM_MASK = 7,
	ONE_BYTE = 8,
	NOT_CACHED = 16, /* of an external string: the object has no pointer to the characters */
	NO_TEXT = 0x80,
};

enum form {
	SEQUENTIAL = 0,
	CONS = 1,
	EXTERNAL = 2,
	SLICED = 3,
	THIN = 5,
};

#define EXTERNAL_CHARS 24 /* offset, in 10 to 14 */

#define LINKS_MAX 8  /* from a string to its characters */
#define PARTS_MAX 16 /* of a string */

struct text_head {
	uint16_t type;
	int32_t length;
};

bool v8_is_text(uint16_t type)
{
	return type < NO_TEXT;
}

static int read_head(const struct v8_heap *heap, uint64_t text, struct text_head *ret)
{
	int err = v8_type(heap, text, &ret->type);

	if (!err && !v8_is_text(ret->type))
		return -EBADMSG;
	err = err
		      ?: process_memory_read(heap->memory,
					     v8_address(text) + (uint64_t)heap->file->text_length,
					     &ret->length, sizeof(ret->length));
	if (err)
		return err;
	return ret->length < 0 || ret->length > V8_TEXT_LENGTH_MAX ? -EBADMSG : 0;
}

/* Find the characters of a string of which a part is wanted: `count` from `first` on. */
static int find(const struct v8_heap *heap, uint64_t text, struct v8_chars *ret, uint64_t *ret_cons)
{
	const struct v8_file *file = heap->file;
	struct text_head head;
	int32_t first = 0, count = -1, offset;

	*ret_cons = 0;
	for (int i = 0; i < LINKS_MAX; i++) {
		int err = read_head(heap, text, &head);
		uint64_t second;

		if (err)
			return err;
		count = count < 0 ? head.length : count;
		if (first > head.length - count)
			return -EBADMSG;
		*ret = (struct v8_chars){.count = count, .is_wide = !(head.type & ONE_BYTE)};
		switch (head.type & FORM_MASK) {
		case SEQUENTIAL:
			ret->address =
				v8_address(text) +
				(uint64_t)(ret->is_wide ? file->text_wide_chars : file->text_chars);
			ret->address += (uint64_t)first << ret->is_wide;
			return 0;
		case EXTERNAL:
			if (head.type & NOT_CACHED)
				return -EBADMSG;
			err = v8_word(heap, text, EXTERNAL_CHARS, &ret->address);
			ret->address += (uint64_t)first << ret->is_wide;
			return err;
		case THIN:
			err = v8_word(heap, text, file->thin_actual, &text);
			break;
		case SLICED:
			err = v8_integer(heap, text, file->sliced_offset, &offset);
			err = err ?: v8_word(heap, text, file->sliced_parent, &text);
			if (!err && (offset < 0 || offset > V8_TEXT_LENGTH_MAX))
				return -EBADMSG;
			first += offset;
			break;
		case CONS:
			/* One that was made flat has an empty second part. */
			err = v8_word(heap, text, file->cons_second, &second);
			err = err ?: read_head(heap, second, &head);
			if (!err && head.length) {
				*ret_cons = text;
				return first ? -EBADMSG : 0;
			}
			err = err ?: v8_word(heap, text, file->cons_first, &text);
			break;
		default:
			return -EBADMSG;
		}
		if (err)
			return err;
		if (first > V8_TEXT_LENGTH_MAX)
			return -EBADMSG;
	}
	return -EBADMSG;
}

int v8_text_find(const struct v8_heap *heap, uint64_t text, struct v8_chars *ret)
{
	uint64_t cons;
	int err = find(heap, text, ret, &cons);

	return err ?: cons ? -EBADMSG : 0;
}

struct reading {
	char *text;
	size_t bytes, bytes_max;
	size_t parts_left;
	bool full;
};

static uint16_t char_at(const uint8_t *chars, bool is_wide, size_t i)
{
	uint16_t wide;

	if (!is_wide)
		return chars[i];
	memcpy(&wide, chars + 2 * i, sizeof(wide));
	return wide;
}

/* Add characters. Pairs of surrogates are one; a single one is no character. */
static void add(struct reading *reading, const uint8_t *chars, size_t count, bool is_wide)
{
	char one[UTF8_BYTES_MAX];

	for (size_t i = 0; i < count && !reading->full; i++) {
		uint32_t code = char_at(chars, is_wide, i), low;
		size_t bytes;

		if (code >= 0xd800 && code < 0xdc00 && i + 1 < count) {
			low = char_at(chars, is_wide, i + 1);
			if (low >= 0xdc00 && low < 0xe000) {
				code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
				i++;
			}
		}
		bytes = utf8_put(code, one);
		reading->full = bytes > reading->bytes_max - reading->bytes;
		if (reading->full)
			break;
		memcpy(reading->text + reading->bytes, one, bytes);
		reading->bytes += bytes;
	}
}

static int add_chars(const struct v8_heap *heap, const struct v8_chars *chars,
		     struct reading *reading)
{
	size_t left = reading->bytes_max - reading->bytes;
	size_t count = (size_t)chars->count < left ? (size_t)chars->count : left;
	AUTO_FREE uint8_t *bytes = malloc((count << chars->is_wide) + 1);
	int err;

	if (!bytes)
		return -ENOMEM;
	err = count ? process_memory_read(heap->memory, chars->address, bytes,
					  count << chars->is_wide)
		    : 0;
	if (!err)
		add(reading, bytes, count, chars->is_wide);
	reading->full = reading->full || count < (size_t)chars->count;
	return err;
}

/* Add the parts of a string in order; those that are left to do are on a stack. */
static int add_text(const struct v8_heap *heap, uint64_t text, struct reading *reading)
{
	uint64_t todo[LINKS_MAX], cons, first, second;
	size_t count = 0;
	struct v8_chars chars;

	todo[count++] = text;
	while (count && !reading->full) {
		int err = find(heap, todo[--count], &chars, &cons);

		if (err)
			return err;
		if (!reading->parts_left--)
			return -EBADMSG;
		if (!cons) {
			err = add_chars(heap, &chars, reading);
			if (err)
				return err;
			continue;
		}
		err = v8_word(heap, cons, heap->file->cons_first, &first);
		err = err ?: v8_word(heap, cons, heap->file->cons_second, &second);
		if (err)
			return err;
		if (count + 2 > LINKS_MAX)
			return -EBADMSG;
		todo[count++] = second;
		todo[count++] = first;
	}
	return 0;
}

int v8_text_read(const struct v8_heap *heap, uint64_t text, size_t bytes_max, char **ret)
{
	AUTO_FREE char *buf = malloc(bytes_max + 1);
	struct reading reading = {.text = buf, .bytes_max = bytes_max, .parts_left = PARTS_MAX};
	int err;

	if (!buf)
		return -ENOMEM;
	err = add_text(heap, text, &reading);
	if (err)
		return err;
	buf[reading.bytes] = '\0';
	*ret = strndup(buf, reading.bytes);
	return *ret ? 0 : -ENOMEM;
}
