/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers of the functions of runtimes, over all processes: functions of one runtime, name, file
 * and first line are one. A number is in use while a function refers to it; it is never given
 * again. Single-threaded.
 */
#ifndef JITBPF_UNWIND_RUNTIME_NAMES_H
#define JITBPF_UNWIND_RUNTIME_NAMES_H

#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "engines/engines.h"

struct runtime_name {
	uint64_t number; /* from 1 on */
	const struct engine *engine;
	char *name, *file; /* name "": all functions of the runtime that are not known */
	uint32_t first_line;
	uint32_t refs;
	uint32_t slot;
	uint64_t hash;
	uint32_t pid; /* of the first process with it */
};

/* Zero-initialized is empty. */
struct runtime_names {
	VEC(struct runtime_name *) slots; /* NULL: free */
	VEC(uint32_t) vacant;
	VEC(struct runtime_name *) news; /* not taken yet; a reference each */
	size_t taken;
	struct index_map index;
	uint64_t last;
};

/* Find or add a name, with a reference. Strings are copied. Returns 0 or -ENOMEM. */
int runtime_names_get(struct runtime_names *names, const struct engine *engine, const char *name,
		      const char *file, uint32_t first_line, uint32_t pid,
		      struct runtime_name **ret);
void runtime_names_put(struct runtime_names *names, struct runtime_name *name);

/* Returns the next name that is new, borrowed until the next call; NULL: there is none. */
const struct runtime_name *runtime_names_take(struct runtime_names *names);

void runtime_names_deinit(struct runtime_names *names);

#endif
