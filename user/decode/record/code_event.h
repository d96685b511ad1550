/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A code event (uapi/code_event.h) as a value. Decoders of publishers make such events, records
 * carry them, and the code map applies them.
 */
#ifndef JITBPF_DECODE_RECORD_CODE_EVENT_H
#define JITBPF_DECODE_RECORD_CODE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/code_event.h"

struct code_string {
	const char *bytes; /* not NUL-terminated; NULL: the event carries none */
	size_t size_bytes;
};

/*
 * The origin of an event. In a record, engine is defined by uapi/code_event.h;
 * state/process/process_code.h resolves it to the code map's number for the engine.
 */
struct code_origin {
	enum jitbpf_publisher publisher;
	uint64_t engine;
	uint64_t sequence;
};

/* Strings and lines are borrowed. Fields as in struct jitbpf_code_event. */
struct code_event {
	struct code_origin origin;
	uint32_t pid, tid;
	uint64_t start_ns;
	uint64_t time_ns, reported_ns, since_ns;
	uint16_t kind;	/* enum jitbpf_code_event_kind */
	uint16_t flags; /* JITBPF_EVENT_* */
	uint32_t arch;
	uint32_t segment;
	uint32_t unknown_fields;
	uint64_t method_id, parent_id;
	uint64_t address, old_address, size_bytes;
	struct code_string name, class_name, source, module;
	const void *lines; /* line_count times struct jitbpf_code_line, may be unaligned */
	size_t line_count;
	const void *scopes; /* a scope table that scope_table_decode() accepts; NULL: none */
	size_t scope_bytes;
};

/* Returns true for a kind of events about threads, not about code. */
static inline bool code_event_is_thread(uint16_t kind)
{
	return kind == JITBPF_CODE_THREAD || kind == JITBPF_CODE_THREAD_END;
}

/*
 * Bytes of the record of an event; 0 if it would exceed JITBPF_CODE_EVENT_MAX.
 * Empty strings and tables take no room.
 */
size_t code_event_record_bytes(const struct code_event *event);

/*
 * Copy the record of an event without its scope table. Sets *ret to the copy, which the caller
 * frees, or to NULL if there is no table. Returns 0 or -ENOMEM, and the errors of
 * code_event_decode().
 */
int code_event_without_scopes(const struct jitbpf_code_event *record,
			      struct jitbpf_code_event **ret);

/* Write the record of an event to ret, which has room for code_event_record_bytes(). */
void code_event_encode(const struct code_event *event, struct jitbpf_code_event *ret);

/*
 * Decode a record. *ret borrows from the record. If a part occurs twice, the first one is used.
 * Repeated parts, and parts of unknown types, are counted in unknown_fields. Returns 0, -EBADMSG
 * (the record is cut, a part has a size that its type cannot have, the scope table is invalid, or
 * times do not ascend), or -ENOTSUP (unknown publisher). *ret is unchanged on failure.
 */
int code_event_decode(const struct jitbpf_code_event *record, size_t available_bytes,
		      struct code_event *ret);

/*
 * Find the last part of a record; `parts` are all its parts, of size_bytes. Returns the offset of
 * the last part in `parts`, with *ret set. Returns size_bytes if there is no part, or if the parts
 * do not end with the record.
 */
size_t code_event_last_part(const void *parts, size_t size_bytes, struct jitbpf_code_part *ret);

#endif
