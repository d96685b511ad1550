/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads what V8 keeps of the scope of a function that was compiled: ScopeInfo. */
#ifndef JITBPF_RUNTIMES_V8_V8_SCOPE_H
#define JITBPF_RUNTIMES_V8_V8_SCOPE_H

#include "runtimes/v8/v8_object.h"

struct v8_scope {
	uint64_t name, inferred_name; /* strings, or 0: there is none */
	int32_t start, end;	      /* positions in the source */
};

/*
 * Read the scope of a function or script. Returns 0; -EBADMSG if it is none; or the error of the
 * memory.
 */
int v8_scope_read(const struct v8_heap *heap, uint64_t scope, struct v8_scope *ret);

#endif
