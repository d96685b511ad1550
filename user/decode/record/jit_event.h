/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One JIT API event, decoded from the records of the shim's probe. Strings
 * point into the bytes that were decoded and are not NUL-terminated.
 */
#ifndef JITBPF_DECODE_RECORD_JIT_EVENT_H
#define JITBPF_DECODE_RECORD_JIT_EVENT_H

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
	struct code_string format; /* of the data that an UPDATE_V2 tells of */
	const void *lines;	   /* line_count times struct jitbpf_jit_line, may be unaligned */
	size_t line_count;
	uint32_t arch;
	uint32_t segment; /* what an UPDATE_V2 says that there is: the JIT API's segment type */
	uint32_t unknown_fields;
};

/*
 * Read and check the header of one part: size_bytes inside the bytes given, a
 * version that is known, part < part_count.
 * Returns 0, or -EBADMSG with *ret unchanged.
 */
int jit_part_decode(const void *bytes, size_t size_bytes, struct jitbpf_jit_header *ret);

/*
 * Decode the field stream behind a (first) part's header, already put
 * together. Borrows fields: *ret points into them. Of a string or table that
 * comes twice the first counts, the others are unknown fields.
 * Returns 0, or -EBADMSG (a field runs past the end, or has a size that its
 * type cannot have) with *ret unchanged.
 */
int jit_fields_decode(const struct jitbpf_jit_header *header, const void *fields, size_t size_bytes,
		      struct jit_event *ret);

/*
 * The code event that an event means, which completed with the given record of it:
 * h.time_ns is when it was reported. The event's own time counts as time_ns, unless the
 * shim cannot have taken it (it lies after the hit, or long before it). Borrows the event's
 * strings and lines.
 */
void jit_event_convert(const struct jit_event *event, const struct jitbpf_jit *record,
		       struct code_event *ret);

#endif
