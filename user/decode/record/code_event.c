/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/record/code_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "decode/record/event_fields.h"

/* --- encoding ---------------------------------------------------------------------- */

static uint64_t part_bytes(uint64_t size_bytes)
{
	return size_bytes ? sizeof(struct jitbpf_code_part) + size_bytes : 0;
}

size_t code_event_record_bytes(const struct code_event *event)
{
	const size_t sizes[] = {
		event->name.size_bytes,	  event->class_name.size_bytes, event->source.size_bytes,
		event->module.size_bytes, event->scope_bytes,
	};
	uint64_t total = sizeof(struct jitbpf_code_event);

	if (event->line_count > JITBPF_CODE_EVENT_MAX / sizeof(struct jitbpf_code_line))
		return 0;
	total += part_bytes(event->line_count * sizeof(struct jitbpf_code_line));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (sizes[i] > JITBPF_CODE_EVENT_MAX)
			return 0;
		total += part_bytes(sizes[i]);
	}
	return total <= JITBPF_CODE_EVENT_MAX ? total : 0;
}

static uint8_t *put_part(uint8_t *at, uint32_t type, const void *bytes, size_t size_bytes)
{
	struct jitbpf_code_part part = {.type = type, .size_bytes = (uint32_t)size_bytes};

	if (!size_bytes)
		return at;
	memcpy(at, &part, sizeof(part));
	memcpy(at + sizeof(part), bytes, size_bytes);
	return at + sizeof(part) + size_bytes;
}

static uint8_t *put_string(uint8_t *at, uint32_t type, const struct code_string *string)
{
	return put_part(at, type, string->bytes, string->size_bytes);
}

void code_event_encode(const struct code_event *event, struct jitbpf_code_event *ret)
{
	uint8_t *at = ret->parts;

	*ret = (struct jitbpf_code_event){
		.h = {.size_bytes = (uint32_t)code_event_record_bytes(event),
		      .type = JITBPF_CODE_EVENT,
		      .flags = event->flags,
		      .time_ns = event->time_ns},
		.pid = event->pid,
		.tid = event->tid,
		.start_ns = event->start_ns,
		.reported_ns = event->reported_ns,
		.since_ns = event->since_ns,
		.engine = event->origin.engine,
		.sequence = event->origin.sequence,
		.method_id = event->method_id,
		.parent_id = event->parent_id,
		.address = event->address,
		.old_address = event->old_address,
		.code_bytes = event->size_bytes,
		.publisher = (uint16_t)event->origin.publisher,
		.kind = event->kind,
		.arch = event->arch,
		.segment = event->segment,
		.unknown_fields = event->unknown_fields,
	};
	at = put_string(at, JITBPF_CODE_PART_NAME, &event->name);
	at = put_string(at, JITBPF_CODE_PART_CLASS, &event->class_name);
	at = put_string(at, JITBPF_CODE_PART_SOURCE, &event->source);
	at = put_string(at, JITBPF_CODE_PART_MODULE, &event->module);
	at = put_part(at, JITBPF_CODE_PART_LINES, event->lines,
		      event->line_count * sizeof(struct jitbpf_code_line));
	put_part(at, JITBPF_CODE_PART_SCOPES, event->scopes, event->scope_bytes);
}

/* --- decoding ---------------------------------------------------------------------- */

static int take_part(struct cursor *c, struct code_event *event)
{
	struct jitbpf_code_part part;
	uint32_t *unknown = &event->unknown_fields;
	int err = cursor_read(c, &part, sizeof(part));

	if (err)
		return err;
	switch (part.type) {
	case JITBPF_CODE_PART_NAME:
		return event_take_string(c, part.size_bytes, &event->name, unknown);
	case JITBPF_CODE_PART_CLASS:
		return event_take_string(c, part.size_bytes, &event->class_name, unknown);
	case JITBPF_CODE_PART_SOURCE:
		return event_take_string(c, part.size_bytes, &event->source, unknown);
	case JITBPF_CODE_PART_MODULE:
		return event_take_string(c, part.size_bytes, &event->module, unknown);
	case JITBPF_CODE_PART_LINES:
		return event_take_items(c, part.size_bytes, sizeof(struct jitbpf_code_line),
					&event->lines, &event->line_count, unknown);
	case JITBPF_CODE_PART_SCOPES:
		return event_take_scopes(c, part.size_bytes, &event->scopes, &event->scope_bytes,
					 unknown);
	default:
		event->unknown_fields++;
		return cursor_skip(c, part.size_bytes);
	}
}

static struct code_event fixed_part(const struct jitbpf_code_event *record)
{
	return (struct code_event){
		.origin = {.publisher = record->publisher,
			   .engine = record->engine,
			   .sequence = record->sequence},
		.pid = record->pid,
		.tid = record->tid,
		.start_ns = record->start_ns,
		.time_ns = record->h.time_ns,
		.reported_ns = record->reported_ns,
		.since_ns = record->since_ns,
		.kind = record->kind,
		.flags = record->h.flags,
		.arch = record->arch,
		.segment = record->segment,
		.unknown_fields = record->unknown_fields,
		.method_id = record->method_id,
		.parent_id = record->parent_id,
		.address = record->address,
		.old_address = record->old_address,
		.size_bytes = record->code_bytes,
	};
}

int code_event_decode(const struct jitbpf_code_event *record, size_t available_bytes,
		      struct code_event *ret)
{
	struct code_event event;
	struct cursor c;

	if (available_bytes < sizeof(*record) || record->h.size_bytes < sizeof(*record) ||
	    record->h.size_bytes > available_bytes ||
	    record->h.size_bytes > JITBPF_CODE_EVENT_MAX || record->since_ns > record->h.time_ns ||
	    record->h.time_ns > record->reported_ns)
		return -EBADMSG;
	event = fixed_part(record);
	c = cursor_of(record->parts, record->h.size_bytes - sizeof(*record));
	while (cursor_left(&c)) {
		int err = take_part(&c, &event);

		if (err)
			return err;
	}
	if (record->publisher >= JITBPF_PUBLISHER_COUNT)
		return -ENOTSUP;
	*ret = event;
	return 0;
}

int code_event_without_scopes(const struct jitbpf_code_event *record,
			      struct jitbpf_code_event **ret)
{
	struct jitbpf_code_event *copy = NULL;
	struct code_event event;
	int err = code_event_decode(record, record->h.size_bytes, &event);

	if (err)
		return err;
	if (event.scopes) {
		event.scopes = NULL;
		event.scope_bytes = 0;
		copy = malloc(code_event_record_bytes(&event));
		if (!copy)
			return -ENOMEM;
		code_event_encode(&event, copy);
	}
	*ret = copy;
	return 0;
}

size_t code_event_last_part(const void *parts, size_t size_bytes, struct jitbpf_code_part *ret)
{
	struct cursor c = cursor_of(parts, size_bytes);
	struct jitbpf_code_part part;

	while (cursor_left(&c)) {
		size_t at = cursor_offset(&c);

		if (cursor_read(&c, &part, sizeof(part)) || cursor_skip(&c, part.size_bytes))
			break;
		if (cursor_left(&c))
			continue;
		*ret = part;
		return at;
	}
	return size_bytes;
}
