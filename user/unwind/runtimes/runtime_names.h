/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers of the functions of runtimes, over all processes of a user: functions of one runtime,
 * name, file and first line are one. Users have numbers of their own, since a function is charged
 * to the first process with it: another user's may have no room. A number is never given to another
 * name.
 *
 * Names without a reference are kept for a while, the last ones that were put: who comes back, such
 * as a program that runs each minute, has the same numbers. Consumers never forget a number.
 * Single-threaded.
 */
#ifndef JITBPF_UNWIND_RUNTIMES_RUNTIME_NAMES_H
#define JITBPF_UNWIND_RUNTIMES_RUNTIME_NAMES_H

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
	uint32_t uid; /* that is charged */
	uint64_t hash;
	uint32_t pid;			      /* of the first process with it */
	struct runtime_name *before, *behind; /* without a reference: those put next to it */
};

#define RUNTIME_NAMES_KEPT_BYTES (4u << 20) /* without a reference */

/* Zero-initialized is empty. */
struct runtime_names {
	VEC(struct runtime_name *) slots; /* NULL: free */
	VEC(uint32_t) vacant;
	VEC(struct runtime_name *) news; /* not taken yet; a reference each */
	size_t taken;
	struct index_map index;
	uint64_t last;
	struct runtime_name *oldest, *newest; /* without a reference */
	uint64_t kept_bytes;
};

/* Find or add a name, with a reference. Strings are copied. Returns 0 or -ENOMEM. */
int runtime_names_get(struct runtime_names *names, const struct engine *engine, const char *name,
		      const char *file, uint32_t first_line, uint32_t uid, uint32_t pid,
		      struct runtime_name **ret);
void runtime_names_put(struct runtime_names *names, struct runtime_name *name);

/* Returns the next name that is new, borrowed until the next call; NULL: there is none. */
const struct runtime_name *runtime_names_take(struct runtime_names *names);

void runtime_names_deinit(struct runtime_names *names);

#endif
