/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The payloads that engines pass to NotifyEvent with an event (enum jit_event_kind):
 * structures of the JIT Profiling API on x86-64. Engines define the layout, so every
 * offset is asserted.
 *
 * Pointers are valid during the call only, and any of them may be NULL.
 */
#ifndef JITBPF_SHIM_PAYLOAD_H
#define JITBPF_SHIM_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "uapi/jit_record.h"

struct jitapi_line {
	uint32_t offset;
	uint32_t line;
};

/* The common start of all loads. */
struct jitapi_method {
	uint32_t id;
	uint32_t parent_id; /* inline loads only; otherwise padding of any value */
	const char *name;
	uint64_t address;
	uint32_t size_bytes;
	uint32_t line_count;
	const struct jitapi_line *lines;
};

/*
 * Of LOAD, UPDATE and UNLOAD. In an UPDATE, only ID, address and size are valid; in an UNLOAD
 * these, or only the ID. 80 bytes in old API headers; the shim reads the first 64.
 */
struct jitapi_load {
	struct jitapi_method method;
	uint32_t class_id;
	const char *class_name;
	const char *source;
};

/* Of INLINE_LOAD. */
struct jitapi_inline_load {
	struct jitapi_method method;
	const char *class_name;
	const char *source;
};

/* Of LOAD_V2. */
struct jitapi_load_v2 {
	struct jitapi_method method;
	const char *class_name;
	const char *source;
	const char *module;
};

/* Of LOAD_V3. */
struct jitapi_load_v3 {
	struct jitapi_load_v2 v2;
	uint32_t arch; /* 0 native, 1 = 32-bit, 2 = 64-bit */
};

/* Of UPDATE_V2. */
struct jitapi_update {
	uint64_t address;
	uint32_t size_bytes;
	uint32_t type; /* 0 unknown, 1 code, 2 data, 3 keep, 4 eof */
	const char *format;
};

/* Of ENTER_NIDS and LEAVE_NIDS. */
struct jitapi_nids {
	uint32_t id;
	uint32_t stack_id;
	const char *name;
};

#define JITAPI_AT(type, member, offset)                                                            \
	_Static_assert(offsetof(struct type, member) == (offset), #type "." #member)

JITAPI_AT(jitapi_method, id, 0);
JITAPI_AT(jitapi_method, parent_id, 4);
JITAPI_AT(jitapi_method, name, 8);
JITAPI_AT(jitapi_method, address, 16);
JITAPI_AT(jitapi_method, size_bytes, 24);
JITAPI_AT(jitapi_method, line_count, 28);
JITAPI_AT(jitapi_method, lines, 32);
JITAPI_AT(jitapi_load, class_id, 40);
JITAPI_AT(jitapi_load, class_name, 48);
JITAPI_AT(jitapi_load, source, 56);
JITAPI_AT(jitapi_inline_load, class_name, 40);
JITAPI_AT(jitapi_inline_load, source, 48);
JITAPI_AT(jitapi_load_v2, class_name, 40);
JITAPI_AT(jitapi_load_v2, source, 48);
JITAPI_AT(jitapi_load_v2, module, 56);
JITAPI_AT(jitapi_load_v3, arch, 64);
JITAPI_AT(jitapi_update, size_bytes, 8);
JITAPI_AT(jitapi_update, type, 12);
JITAPI_AT(jitapi_update, format, 16);
JITAPI_AT(jitapi_nids, stack_id, 4);
JITAPI_AT(jitapi_nids, name, 8);

_Static_assert(sizeof(struct jitapi_line) == 8, "layout");
_Static_assert(sizeof(struct jitapi_method) == 40, "layout");
_Static_assert(sizeof(struct jitapi_load) == 64, "layout");
_Static_assert(sizeof(struct jitapi_inline_load) == 56, "layout");
_Static_assert(sizeof(struct jitapi_load_v2) == 64, "layout");
_Static_assert(sizeof(struct jitapi_load_v3) == 72, "layout");
_Static_assert(sizeof(struct jitapi_update) == 24, "layout");
_Static_assert(sizeof(struct jitapi_nids) == 16, "layout");

#endif
