/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/annotate/annotation_message.h"

#include <errno.h>
#include <string.h>

#include "base/cursor.h"

#define ERRNO_MAX 4095

/* The head of a message. Strings from number 1 on, frames, instructions and code follow. */
struct head {
	uint64_t address, size_bytes, skipped, unshown;
	int32_t error;
	uint32_t lack;
	uint32_t strings, frames, instructions, code_bytes;
};

struct packed_instruction {
	uint64_t offset, samples, target;
	uint32_t text, first, frame_count, length;
};

_Static_assert(sizeof(struct head) == 56 && sizeof(struct packed_instruction) == 40,
	       "without padding");

static int put_instructions(message_bytes *bytes, const struct annotation *annotation)
{
	int err = 0;

	vec_for_each (now, &annotation->instructions) {
		struct packed_instruction packed = {
			.offset = now->offset,
			.samples = now->samples,
			.target = now->target,
			.text = now->text,
			.first = now->first,
			.frame_count = now->frame_count,
			.length = now->length,
		};

		err = err ?: message_put(bytes, &packed, sizeof(packed));
	}
	return err;
}

int annotation_message_put(message_bytes *bytes, const struct annotation *annotation)
{
	const struct head head = {
		.address = annotation->address,
		.size_bytes = annotation->size_bytes,
		.skipped = annotation->skipped,
		.unshown = annotation->unshown,
		.error = annotation->error,
		.lack = annotation->lack,
		.strings = string_pool_size(annotation->strings),
		.frames = (uint32_t)annotation->frames.size,
		.instructions = (uint32_t)annotation->instructions.size,
		.code_bytes = annotation->code_bytes,
	};
	int err = message_put(bytes, &head, sizeof(head));

	for (uint32_t i = 1; i < head.strings && !err; i++) {
		const char *s = string_pool_get(annotation->strings, i);

		err = message_put(bytes, s, strlen(s) + 1);
	}
	if (head.frames)
		err = err
			      ?: message_put(bytes, annotation->frames.data,
					     head.frames * sizeof(*annotation->frames.data));
	err = err ?: put_instructions(bytes, annotation);
	if (head.code_bytes)
		err = err ?: message_put(bytes, annotation->code, head.code_bytes);
	return err;
}

/* Strings of a pool differ, so each gets its number again. */
static int get_strings(struct cursor *at, const struct head *head, struct string_pool *strings)
{
	for (uint32_t i = 1; i < head->strings; i++) {
		const char *s;
		uint32_t number;

		if (cursor_string(at, &s))
			return -EBADMSG;
		if (string_pool_add(strings, s, strlen(s), &number))
			return -ENOMEM;
		if (number != i)
			return -EBADMSG;
	}
	return 0;
}

static int get_frames(struct cursor *at, const struct head *head, struct annotation *ret)
{
	for (uint32_t i = 0; i < head->frames; i++) {
		struct annotated_frame frame;

		if (cursor_read(at, &frame, sizeof(frame)) || frame.name >= head->strings ||
		    frame.file >= head->strings)
			return -EBADMSG;
		if (vec_push(&ret->frames, frame))
			return -ENOMEM;
	}
	return 0;
}

static bool is_valid(const struct head *head, const struct packed_instruction *now, uint64_t end)
{
	return now->offset >= end && now->text < head->strings &&
	       now->length <= INSTRUCTION_BYTES_MAX && now->frame_count <= head->frames &&
	       now->first <= head->frames - now->frame_count &&
	       (!now->length ||
		(now->offset < head->code_bytes && now->length <= head->code_bytes - now->offset));
}

static int get_instructions(struct cursor *at, const struct head *head, struct annotation *ret)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < head->instructions; i++) {
		struct packed_instruction now;

		if (cursor_read(at, &now, sizeof(now)) || !is_valid(head, &now, end) ||
		    now.offset == UINT64_MAX)
			return -EBADMSG;
		end = now.offset + (now.length ?: 1);
		if (vec_push(&ret->instructions,
			     ((struct annotated_instruction){.offset = now.offset,
							     .samples = now.samples,
							     .text = now.text,
							     .first = now.first,
							     .frame_count = now.frame_count,
							     .length = (uint8_t)now.length,
							     .target = now.target})))
			return -ENOMEM;
	}
	return 0;
}

static int get_code(struct cursor *at, const struct head *head, struct annotation *ret)
{
	const void *code;

	if (cursor_take(at, head->code_bytes, &code) || cursor_left(at))
		return -EBADMSG;
	if (!head->code_bytes)
		return 0;
	ret->code = malloc(head->code_bytes);
	if (!ret->code)
		return -ENOMEM;
	memcpy(ret->code, code, head->code_bytes);
	ret->code_bytes = head->code_bytes;
	return 0;
}

int annotation_message_get(const void *bytes, size_t size_bytes,
			   const struct sampled_function *function, struct annotation *ret)
{
	struct cursor at = cursor_of(bytes, size_bytes);
	struct head head;
	int err;

	*ret = (struct annotation){.function = function};
	if (string_pool_create(&ret->strings))
		return -ENOMEM;
	if (cursor_read(&at, &head, sizeof(head)) || head.lack > CODE_NOT_MADE || head.error > 0 ||
	    head.error < -ERRNO_MAX || !head.strings)
		return -EBADMSG;
	ret->address = head.address;
	ret->size_bytes = head.size_bytes;
	ret->skipped = head.skipped;
	ret->unshown = head.unshown;
	ret->lack = (enum annotation_lack)head.lack;
	ret->error = head.error;
	err = get_strings(&at, &head, ret->strings);
	err = err ?: get_frames(&at, &head, ret);
	err = err ?: get_instructions(&at, &head, ret);
	return err ?: get_code(&at, &head, ret);
}
