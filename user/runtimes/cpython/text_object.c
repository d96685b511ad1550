/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/cpython/text_object.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "base/utf8.h"

/* Bits of the state. A compact string has its characters behind the object. */
enum { STATE_KIND_SHIFT = 2, STATE_KIND_MASK = 7, STATE_COMPACT = 1 << 5, STATE_ASCII = 1 << 6 };

static uint32_t character(const uint8_t *characters, size_t i, uint32_t width)
{
	uint32_t code = 0;

	memcpy(&code, characters + i * width, width);
	return code;
}

static int to_utf8(const uint8_t *characters, size_t count, uint32_t width, size_t max_bytes,
		   char **ret)
{
	AUTO_FREE char *text = malloc(max_bytes + 1);
	char one[UTF8_BYTES_MAX];
	size_t bytes = 0;

	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		size_t more = utf8_put(character(characters, i, width), one);

		if (more > max_bytes - bytes)
			break;
		memcpy(text + bytes, one, more);
		bytes += more;
	}
	text[bytes] = '\0';
	*ret = strndup(text, bytes);
	return *ret ? 0 : -ENOMEM;
}

int cpython_text_read(const struct process_memory *memory, const struct cpython_layout *layout,
		      uint64_t object, size_t max_bytes, char **ret)
{
	AUTO_FREE uint8_t *characters = NULL;
	struct {
		uint64_t length, hash;
		uint32_t state;
	} __attribute__((packed)) head;
	uint64_t at = object + layout->text_ascii_bytes;
	uint32_t width;
	size_t count;
	int err;

	err = process_memory_read(memory, object + CPYTHON_TEXT_LENGTH, &head, sizeof(head));
	if (err)
		return err;
	width = head.state >> STATE_KIND_SHIFT & STATE_KIND_MASK;
	if (width != 1 && width != 2 && width != 4)
		return -EBADMSG;
	if (!(head.state & STATE_COMPACT))
		err = process_memory_word(memory, object + layout->text_compact_bytes, &at);
	else if (!(head.state & STATE_ASCII))
		at = object + layout->text_compact_bytes;
	if (err)
		return err;
	count = head.length < max_bytes ? head.length : max_bytes;
	characters = malloc(count * width + 1);
	if (!characters)
		return -ENOMEM;
	err = count ? process_memory_read(memory, at, characters, count * width) : 0;
	return err ?: to_utf8(characters, count, width, max_bytes, ret);
}
