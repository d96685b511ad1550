/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds the scope table of one load (uapi/scope_table.h). */
#ifndef JITBPF_SHIM_JVMTI_SCOPES_H
#define JITBPF_SHIM_JVMTI_SCOPES_H

#include <stdbool.h>
#include <stdint.h>

#include "jitapi-shim/jvmti/buffer.h"
#include "uapi/scope_table.h"

struct scopes {
	struct buffer methods; /* struct jitbpf_scope_method */
	struct buffer_items scopes;
	struct buffer ranges; /* struct jitbpf_scope_range */
	struct buffer strings;
	bool no_memory; /* a part of the table is missing */
};

void scopes_init(struct scopes *scopes);
void scopes_deinit(struct scopes *scopes);
void scopes_reset(struct scopes *scopes); /* make it empty, and keep memory (buffer_reset()) */

/* Add a method. Returns its index. Strings may be NULL; long ones are cut. */
uint32_t scopes_add_method(struct scopes *scopes, const char *name, const char *source);

/*
 * Find or add a scope of that caller, method and line; position is for a new one. caller:
 * JITBPF_NO_SCOPE, or the result of an earlier call. Returns its index; JITBPF_NO_SCOPE if the
 * chain is too deep or there is no memory.
 */
uint32_t scopes_add(struct scopes *scopes, uint32_t caller, uint32_t method, int32_t position,
		    uint32_t line);

/*
 * Add a range: from offset on, the code is in a scope. Offsets must ascend; otherwise the range is
 * ignored. Returns false then.
 */
bool scopes_add_range(struct scopes *scopes, uint64_t offset, uint32_t scope);

/*
 * Returns the bytes of the table, valid until the next call; NULL: there are no ranges, no memory,
 * or it exceeds max_bytes.
 */
const void *scopes_table(struct scopes *scopes, size_t max_bytes, struct buffer *room,
			 uint32_t *ret_bytes);

#endif
