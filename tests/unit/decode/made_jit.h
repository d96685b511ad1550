/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds JIT records as the shim does, whole or in parts. */
#ifndef JITBPF_TESTS_UNIT_DECODE_MADE_JIT_H
#define JITBPF_TESTS_UNIT_DECODE_MADE_JIT_H

#include <assert.h>
#include <string.h>

#include "uapi/jit_record.h"

/* A record under construction: a header and a stream of fields. */
struct made_jit {
	struct jitbpf_jit_header header;
	unsigned char fields[8192];
	size_t field_bytes;
};

static inline void made_jit_begin(struct made_jit *made, unsigned event,
				  unsigned long long sequence)
{
	memset(made, 0, sizeof(*made));
	made->header.version = JITBPF_JIT_VERSION;
	made->header.event = (__u16)event;
	made->header.sequence = sequence;
	made->header.part_count = 1;
}

static inline void made_jit_field(struct made_jit *made, unsigned type, const void *bytes,
				  size_t size_bytes)
{
	struct jitbpf_jit_field field = {.type = type, .size_bytes = (__u32)size_bytes};

	assert(made->field_bytes + sizeof(field) + size_bytes <= sizeof(made->fields));
	memcpy(made->fields + made->field_bytes, &field, sizeof(field));
	memcpy(made->fields + made->field_bytes + sizeof(field), bytes, size_bytes);
	made->field_bytes += sizeof(field) + size_bytes;
}

static inline void made_jit_string(struct made_jit *made, unsigned type, const char *string)
{
	made_jit_field(made, type, string, strlen(string));
}

/* Write part number `part` of part_count equal slices. Returns its size. */
static inline size_t made_jit_part(const struct made_jit *made, unsigned part, unsigned part_count,
				   unsigned char *out)
{
	struct jitbpf_jit_header header = made->header;
	size_t begin = made->field_bytes * part / part_count;
	size_t end = made->field_bytes * (part + 1) / part_count;

	header.part = (__u16)part;
	header.part_count = (__u16)part_count;
	header.size_bytes = (__u32)(sizeof(header) + end - begin);
	memcpy(out, &header, sizeof(header));
	memcpy(out + sizeof(header), made->fields + begin, end - begin);
	return header.size_bytes;
}

#endif
