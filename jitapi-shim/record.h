/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One event: its header, and pointers to the bytes of its fields. The bytes are copied into the
 * journal, and to the probe through a buffer on the stack. So the shim allocates nothing, and calls
 * may nest.
 */
#ifndef JITBPF_SHIM_RECORD_H
#define JITBPF_SHIM_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/jit_record.h"

#define RECORD_STRING_MAX (1u << 20) /* bytes; longer ones are cut and flagged */
#define RECORD_LINES_MAX  1000000u
#define RECORD_SCOPES_MAX (4u << 20)
#define RECORD_FIELDS_MAX JITBPF_JIT_SCOPES /* the last type; each occurs at most once */

struct record {
	struct jitbpf_jit_header header; /* without size_bytes, part and part_count */
	uint32_t field_count;
	struct record_field {
		uint32_t type;
		uint32_t size_bytes;
		const void *bytes; /* borrowed */
	} fields[RECORD_FIELDS_MAX];
};

/* Returns true for a load without an address: it registers a method that has no code yet. */
static inline bool record_is_method(const struct jitbpf_jit_header *header)
{
	return jit_event_is_load(header->event) && header->method_id && !header->address;
}

/* Returns true for an event whose entry a later event can make useless: a load, a thread's name. */
static inline bool record_can_end(const struct jitbpf_jit_header *header)
{
	return jit_event_is_load(header->event) || header->event == JIT_EVENT_JVM_THREAD;
}

/* Returns true for an unload, or the end of a thread. */
static inline bool record_is_end(const struct jitbpf_jit_header *header)
{
	return header->event == JIT_EVENT_UNLOAD || header->event == JIT_EVENT_JVM_UNLOAD ||
	       header->event == JIT_EVENT_JVM_THREAD_END;
}

/* Add a field; each type once. An empty value (NULL, "", no lines) adds none. */
void record_add_string(struct record *record, enum jitbpf_jit_field_type type, const char *string);
void record_add_lines(struct record *record, const void *lines, uint32_t line_count);
/* A scope table of at most RECORD_SCOPES_MAX bytes, as the last field. */
void record_add_scopes(struct record *record, const void *scopes, uint32_t size_bytes);
void record_add_number(struct record *record, enum jitbpf_jit_field_type type,
		       const uint32_t *number);

/* Returns true if the record has a scope table. */
static inline bool record_has_scopes(const struct record *record)
{
	return record->field_count &&
	       record->fields[record->field_count - 1].type == JITBPF_JIT_SCOPES;
}

/* Drop the scope table that the record has, and flag the record as truncated. */
static inline void record_drop_scopes(struct record *record)
{
	record->field_count--;
	record->header.flags |= JITBPF_JIT_TRUNCATED;
}

/* The size of all fields with their heads, and a copy of them in order. */
size_t record_field_bytes(const struct record *record);
void record_copy_fields(const struct record *record, void *to);

/* Fires the probe once for each part. */
void record_emit(const struct record *record);

#endif
