/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names at the end of a recording: a FRAMES chunk (uapi/recording.h) for each native or kernel
 * location that has a name. JIT code is named by its own records.
 */
#ifndef JITBPF_PIPELINE_RECORD_LOCATION_NAMES_H
#define JITBPF_PIPELINE_RECORD_LOCATION_NAMES_H

#include <stddef.h>

#include "pipeline/record/frames_chunk.h"
#include "sink/sink.h"
#include "state/process/module_table.h"

struct location_order;

/* Zero-initialized: no names. The owner calls location_names_deinit(). */
struct location_names {
	struct location_order *order; /* locations that have names, in the order of their chunks */
	size_t count, next;
	struct frames_chunk chunk;
};

/* List the locations that have names now. Returns 0 or -ENOMEM. */
int location_names_init(struct location_names *ret, const struct view *view);
void location_names_deinit(struct location_names *names);

/*
 * Make the next chunk, valid until the next call. view: of the same epoch as before; modules has
 * the identities of native locations. Returns 1 with *ret set, 0 after the last chunk, or a
 * negative errno.
 */
int location_names_next(struct location_names *names, const struct view *view,
			const struct module_table *modules, const struct jitbpf_record **ret);

#endif
