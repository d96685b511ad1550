/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One JIT API event, decoded from the shim's records, and its conversion to a code event.
 * The numbers of the JIT API are not known outside of this decoder. Strings point into the
 * decoded bytes and are not NUL-terminated.
 */
#ifndef JITBPF_DECODE_MEDIA_JIT_EVENT_H
#define JITBPF_DECODE_MEDIA_JIT_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "decode/record/code_event.h"
#include "uapi/jit_record.h"
#include "uapi/record.h"

struct jit_event {
	struct jitbpf_jit_header header;
	struct code_string name;
	struct code_string class_name;
	struct code_string source;
	struct code_string module;
	struct code_string format; /* data format of an UPDATE_V2 */
	const void *lines;	   /* line_count times struct jitbpf_jit_line, may be unaligned */
	size_t line_count;
	const void *scopes; /* a checked scope table; NULL: none */
	size_t scope_bytes;
	uint32_t arch;
	uint32_t segment; /* segment type of an UPDATE_V2: enum jitbpf_segment */
	uint32_t unknown_fields;
};

/*
 * Decode and check the header of one part: its size_bytes lie within the given bytes, its
 * version is known, and part < part_count.
 * Returns 0; or, with *ret unchanged, -ENOTSUP (another version) or -EBADMSG.
 */
int jit_part_decode(const void *bytes, size_t size_bytes, struct jitbpf_jit_header *ret);

/*
 * Decode the assembled field stream of a record, with the header of its first part. *ret
 * points into fields. If a string or table is repeated, the first one counts and the others
 * are unknown fields.
 * Returns 0, or -EBADMSG (a field runs past the end, or has a size that its
 * type cannot have, or an invalid scope table) with *ret unchanged.
 */
int jit_fields_decode(const struct jitbpf_jit_header *header, const void *fields, size_t size_bytes,
		      struct jit_event *ret);

/*
 * Convert an event to a code event. `record` is the record that completed the event; its h.time_ns
 * is the time of the report. ret->time_ns is the event's own time, unless that is impossible (later
 * than the report, or more than 10 s before it). Loads of a Java virtual machine are LATE. Names of
 * its threads are cut to JITBPF_THREAD_NAME_MAX. Borrows the event's strings and lines.
 */
void jit_event_convert(const struct jit_event *event, const struct jitbpf_jit *record,
		       struct code_event *ret);

#endif
