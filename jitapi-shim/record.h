/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One event on its way into the probe: the header and where the fields' bytes
 * lie. Nothing is copied until it goes into the journal and, through a part's worth
 * of stack, into the probe: no allocation, no limit to how calls may nest.
 */
#ifndef JITBPF_SHIM_RECORD_H
#define JITBPF_SHIM_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "uapi/jit_record.h"

#define RECORD_STRING_MAX (1u << 20) /* bytes; longer ones are cut, and marked so */
#define RECORD_LINES_MAX  1000000u
#define RECORD_FIELDS_MAX JITBPF_JIT_FORMAT /* the last type: each comes at most once */

struct record {
	struct jitbpf_jit_header header; /* all but size_bytes and part* */
	uint32_t field_count;
	struct record_field {
		uint32_t type;
		uint32_t size_bytes;
		const void *bytes; /* borrowed */
	} fields[RECORD_FIELDS_MAX];
};

/* Add a field, each type once. Nothing to carry (NULL, "", no lines): no field. */
void record_add_string(struct record *record, enum jitbpf_jit_field_type type, const char *string);
void record_add_lines(struct record *record, const void *lines, uint32_t line_count);
void record_add_number(struct record *record, enum jitbpf_jit_field_type type,
		       const uint32_t *number);

/* What the fields take, heads included; and all of them, one behind the other. */
size_t record_field_bytes(const struct record *record);
void record_copy_fields(const struct record *record, void *to);

/* Fire the probe, once for each part. */
void record_emit(const struct record *record);

#endif
