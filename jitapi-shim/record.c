/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/record.h"

#include <string.h>

#include "jitapi-shim/probe.h"

#define SLICE_MAX (JITBPF_JIT_PART_MAX - sizeof(struct jitbpf_jit_header))

/* The largest record: four strings, a line table, a scope table, an architecture. */
_Static_assert((4ull * (RECORD_STRING_MAX + 8) + 8 + RECORD_LINES_MAX * 8ull + RECORD_SCOPES_MAX +
		8 + 12) / SLICE_MAX <
		       UINT16_MAX,
	       "part_count would overflow");

struct part {
	struct jitbpf_jit_header header;
	uint8_t slice[SLICE_MAX];
};

_Static_assert(sizeof(struct part) == JITBPF_JIT_PART_MAX, "no padding");

static void record_add(struct record *record, enum jitbpf_jit_field_type type, const void *bytes,
		       uint32_t size_bytes)
{
	record->fields[record->field_count++] = (struct record_field){
		.type = type,
		.size_bytes = size_bytes,
		.bytes = bytes,
	};
}

void record_add_string(struct record *record, enum jitbpf_jit_field_type type, const char *string)
{
	size_t size_bytes;

	if (!string)
		return;
	size_bytes = strnlen(string, RECORD_STRING_MAX + 1);
	if (size_bytes > RECORD_STRING_MAX) {
		size_bytes = RECORD_STRING_MAX;
		record->header.flags |= JITBPF_JIT_TRUNCATED;
	}
	if (size_bytes)
		record_add(record, type, string, (uint32_t)size_bytes);
}

void record_add_lines(struct record *record, const void *lines, uint32_t line_count)
{
	if (!lines)
		return;
	if (line_count > RECORD_LINES_MAX) {
		line_count = RECORD_LINES_MAX;
		record->header.flags |= JITBPF_JIT_TRUNCATED;
	}
	if (line_count)
		record_add(record, JITBPF_JIT_LINES, lines,
			   line_count * (uint32_t)sizeof(struct jitbpf_jit_line));
}

void record_add_scopes(struct record *record, const void *scopes, uint32_t size_bytes)
{
	if (size_bytes)
		record_add(record, JITBPF_JIT_SCOPES, scopes, size_bytes);
}

void record_add_number(struct record *record, enum jitbpf_jit_field_type type,
		       const uint32_t *number)
{
	record_add(record, type, number, sizeof(*number));
}

size_t record_field_bytes(const struct record *record)
{
	size_t total_bytes = 0;

	for (uint32_t i = 0; i < record->field_count; i++)
		total_bytes += sizeof(struct jitbpf_jit_field) + record->fields[i].size_bytes;
	return total_bytes;
}

void record_copy_fields(const struct record *record, void *to)
{
	uint8_t *at = to;

	for (uint32_t i = 0; i < record->field_count; i++) {
		const struct record_field *field = &record->fields[i];
		struct jitbpf_jit_field head = {field->type, field->size_bytes};

		memcpy(at, &head, sizeof(head));
		memcpy(at + sizeof(head), field->bytes, field->size_bytes);
		at += sizeof(head) + field->size_bytes;
	}
}

static void part_fire(struct part *part)
{
	jitbpf_probe(part, part->header.size_bytes, part->header.sequence, part->header.event);
	part->header.part++;
	part->header.size_bytes = sizeof(part->header);
}

/* Fires a full part only if more bytes follow, so that the last part is never empty. */
static void part_append(struct part *part, const void *bytes, size_t size_bytes)
{
	const uint8_t *from = bytes;
	size_t used, n;

	while (size_bytes) {
		if (part->header.size_bytes == JITBPF_JIT_PART_MAX)
			part_fire(part);
		used = part->header.size_bytes - sizeof(part->header);
		n = SLICE_MAX - used < size_bytes ? SLICE_MAX - used : size_bytes;
		memcpy(part->slice + used, from, n);
		part->header.size_bytes += (uint32_t)n;
		from += n;
		size_bytes -= n;
	}
}

void record_emit(const struct record *record)
{
	size_t total_bytes = record_field_bytes(record);
	struct part part;

	part.header = record->header;
	part.header.size_bytes = sizeof(part.header);
	part.header.part = 0;
	part.header.part_count =
		total_bytes ? (uint16_t)((total_bytes + SLICE_MAX - 1) / SLICE_MAX) : 1;
	for (uint32_t i = 0; i < record->field_count; i++) {
		const struct record_field *field = &record->fields[i];
		struct jitbpf_jit_field head = {field->type, field->size_bytes};

		part_append(&part, &head, sizeof(head));
		part_append(&part, field->bytes, field->size_bytes);
	}
	part_fire(&part);
}
