/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds the scope table (uapi/scope_table.h) of code that a reader of a runtime has found. The
 * agent for Java makes the same table of the same calls.
 */
#ifndef JITBPF_RUNTIMES_SCOPE_BUILDER_H
#define JITBPF_RUNTIMES_SCOPE_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "uapi/scope_table.h"

/* All zeros: empty. */
struct scope_builder {
	VEC(struct jitbpf_scope_method) methods;
	VEC(struct jitbpf_scope) scopes;
	VEC(struct jitbpf_scope_range) ranges;
	VEC(char) strings;
	struct index_map index; /* of scopes, by caller, method and line */
};

void scope_builder_deinit(struct scope_builder *builder);

/* Add a method. Long strings are cut. Returns 0 with its index, or -ENOMEM. */
int scope_builder_add_method(struct scope_builder *builder, const char *name, const char *source,
			     uint32_t *ret);

/*
 * Find or add a scope of that caller (an index, or JITBPF_NO_SCOPE), method and line; position is
 * for a new one. Returns 0 with its index, -E2BIG (the chain is too deep) or -ENOMEM.
 */
int scope_builder_add(struct scope_builder *builder, uint32_t caller, uint32_t method,
		      int32_t position, uint32_t line, uint32_t *ret);

/*
 * From an offset on, the code is in a scope. Offsets must ascend; another one is ignored. Returns 0
 * or -ENOMEM.
 */
int scope_builder_add_range(struct scope_builder *builder, uint32_t offset, uint32_t scope);

/*
 * Make the table, for free(). Returns 0; -ENODATA if there are no ranges; -E2BIG if it has more
 * than bytes_max; or -ENOMEM.
 */
int scope_builder_make(const struct scope_builder *builder, size_t bytes_max, void **ret,
		       size_t *ret_bytes);

#endif
