/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/frames_message.h"

#include <errno.h>
#include <string.h>

#include "base/cursor.h"

/* Before the strings of a frame: its name, its file and that of its declaration, if it has them. */
struct frame_head {
	uint64_t symbol_offset;
	uint32_t line;
	uint8_t inlined, has_file, has_decl_file;
	uint8_t reserved;
};

int message_put(message_bytes *bytes, const void *from, size_t size_bytes)
{
	if (vec_reserve(bytes, bytes->size + size_bytes))
		return -ENOMEM;
	memcpy(bytes->data + bytes->size, from, size_bytes);
	bytes->size += size_bytes;
	return 0;
}

static int put_string(message_bytes *bytes, const char *s, size_t max)
{
	int err = message_put(bytes, s, strnlen(s, max));

	return err ?: message_put(bytes, "", 1);
}

int frames_message_put(message_bytes *bytes, const struct symbol_frame *frames, uint32_t count)
{
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++) {
		const struct symbol_frame *frame = &frames[i];
		struct frame_head head = {
			.symbol_offset = frame->symbol_offset,
			.line = frame->line,
			.inlined = frame->inlined,
			.has_file = frame->file != NULL,
			.has_decl_file = frame->decl_file != NULL,
		};

		err = message_put(bytes, &head, sizeof(head));
		err = err ?: put_string(bytes, frame->name, SYMBOL_NAME_BYTES_MAX);
		if (!err && frame->file)
			err = put_string(bytes, frame->file, FRAMES_FILE_BYTES_MAX);
		if (!err && frame->decl_file)
			err = put_string(bytes, frame->decl_file, FRAMES_FILE_BYTES_MAX);
	}
	return err;
}

static int get_string(struct cursor *bytes, size_t max, const char **ret)
{
	int err = cursor_string(bytes, ret);

	return err ?: strlen(*ret) <= max ? 0 : -EBADMSG;
}

static int get_frame(struct cursor *bytes, const char *module, struct symbol_frame *ret)
{
	struct frame_head head;
	int err = cursor_read(bytes, &head, sizeof(head));

	*ret = (struct symbol_frame){.module = module};
	err = err ?: get_string(bytes, SYMBOL_NAME_BYTES_MAX, &ret->name);
	if (err || head.inlined > 1 || head.has_file > 1 || head.has_decl_file > 1 || head.reserved)
		return -EBADMSG;
	ret->symbol_offset = head.symbol_offset;
	ret->line = head.line;
	ret->inlined = head.inlined;
	if (head.has_file)
		err = get_string(bytes, FRAMES_FILE_BYTES_MAX, &ret->file);
	if (!err && head.has_decl_file)
		err = get_string(bytes, FRAMES_FILE_BYTES_MAX, &ret->decl_file);
	return err;
}

int frames_message_get(const void *bytes, size_t size_bytes, const char *module,
		       struct symbol_frame frames[SYMBOL_FRAMES_MAX], uint32_t *ret_count)
{
	struct cursor at = cursor_of(bytes, size_bytes);
	struct symbol_frame got[SYMBOL_FRAMES_MAX];
	uint32_t count = 0;

	while (cursor_left(&at) && count < SYMBOL_FRAMES_MAX) {
		if (get_frame(&at, module, &got[count++]))
			return -EBADMSG;
	}
	/* The last frame is the function itself, into which the others are inlined. */
	if (!count || cursor_left(&at) || got[count - 1].inlined)
		return -EBADMSG;
	memcpy(frames, got, count * sizeof(*got));
	*ret_count = count;
	return 0;
}
