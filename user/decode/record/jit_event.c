/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/record/jit_event.h"

#include <errno.h>

#include "base/cursor.h"

int jit_part_decode(const void *bytes, size_t size_bytes, struct jitbpf_jit_header *ret)
{
	struct cursor c = cursor_of(bytes, size_bytes);
	struct jitbpf_jit_header header;
	int err = cursor_read(&c, &header, sizeof(header));

	if (err)
		return err;
	if (header.size_bytes < sizeof(header) || header.size_bytes > size_bytes ||
	    header.version != JITBPF_JIT_VERSION || header.part >= header.part_count)
		return -EBADMSG;
	*ret = header;
	return 0;
}

/* Set a string, but for one that stands there already. */
static int take_string(struct cursor *c, size_t size_bytes, struct jit_string *string,
		       uint32_t *unknown)
{
	const void *bytes;
	int err = cursor_take(c, size_bytes, &bytes);

	if (err)
		return err;
	if (string->bytes)
		(*unknown)++;
	else
		*string = (struct jit_string){.bytes = bytes, .size_bytes = size_bytes};
	return 0;
}

static int take_lines(struct cursor *c, size_t size_bytes, struct jit_event *event)
{
	const void *lines;
	int err = cursor_take(c, size_bytes, &lines);

	if (err)
		return err;
	if (size_bytes % sizeof(struct jitbpf_jit_line))
		return -EBADMSG;
	if (event->lines) {
		event->unknown_fields++;
		return 0;
	}
	event->lines = lines;
	event->line_count = size_bytes / sizeof(struct jitbpf_jit_line);
	return 0;
}

static int take_number(struct cursor *c, size_t size_bytes, uint32_t *number)
{
	return size_bytes == sizeof(*number) ? cursor_read(c, number, sizeof(*number)) : -EBADMSG;
}

static int take_field(struct cursor *c, struct jit_event *event)
{
	struct jitbpf_jit_field field;
	int err = cursor_read(c, &field, sizeof(field));

	if (err)
		return err;
	switch (field.type) {
	case JITBPF_JIT_NAME:
		return take_string(c, field.size_bytes, &event->name, &event->unknown_fields);
	case JITBPF_JIT_CLASS:
		return take_string(c, field.size_bytes, &event->class_name, &event->unknown_fields);
	case JITBPF_JIT_SOURCE:
		return take_string(c, field.size_bytes, &event->source, &event->unknown_fields);
	case JITBPF_JIT_MODULE:
		return take_string(c, field.size_bytes, &event->module, &event->unknown_fields);
	case JITBPF_JIT_LINES:
		return take_lines(c, field.size_bytes, event);
	case JITBPF_JIT_ARCH:
		return take_number(c, field.size_bytes, &event->arch);
	case JITBPF_JIT_SEGMENT:
		return take_number(c, field.size_bytes, &event->segment);
	case JITBPF_JIT_FORMAT:
		return take_string(c, field.size_bytes, &event->format, &event->unknown_fields);
	default:
		event->unknown_fields++;
		return cursor_skip(c, field.size_bytes);
	}
}

int jit_fields_decode(const struct jitbpf_jit_header *header, const void *fields, size_t size_bytes,
		      struct jit_event *ret)
{
	struct cursor c = cursor_of(fields, size_bytes);
	struct jit_event event = {.header = *header};

	while (cursor_left(&c)) {
		int err = take_field(&c, &event);

		if (err)
			return err;
	}
	*ret = event;
	return 0;
}
