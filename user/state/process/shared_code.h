/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JIT code in memory that processes share, as workers do that a server has forked: it is
 * found by the object that is mapped and the offset in it, whichever process compiled it
 * or runs it. What one process says of such memory, all believe that share it.
 *
 * An object lives as long as something holds it: mappings of it, those of the past
 * included, and processes that reported code in it.
 */
#ifndef JITBPF_STATE_PROCESS_SHARED_CODE_H
#define JITBPF_STATE_PROCESS_SHARED_CODE_H

#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "state/code/code_map.h"
#include "uapi/record.h"

/* An object that is mapped shared, by device, inode and generation. */
struct shared_code {
	struct space_value value;
	struct shared_code_table *table;
	uint32_t number; /* in the table, for now */
	uint32_t dev_major, dev_minor;
	uint64_t inode, inode_generation;
	struct code_map *code;		  /* by shared_code_address(); NULL: nobody reported any */
	struct shared_code *next, **link; /* of those that have a map */
};

struct shared_code_table {
	const struct code_budget *budget;	  /* borrowed, as all of these */
	const struct code_line_rules *line_rules; /* or NULL */
	uint64_t *next_region;
	VEC(struct shared_code *) all; /* by number; not held */
	struct index_map index;
	struct shared_code *with_code;
	uint64_t generation; /* of all code maps together: see code_map_generation() */
};

/* Offset 0 is an address as good as any; to a code map 0 is none. */
static inline uint64_t shared_code_address(uint64_t file_offset)
{
	return file_offset + 4096;
}

/* Everything that the table gave away has been put back. */
void shared_code_table_deinit(struct shared_code_table *table);

/*
 * The object that a mapping shares, NULL where its memory is the process's own, or
 * is no object that could be told from others. Returns 0 with a reference in *ret, or
 * -ENOMEM.
 */
int shared_code_table_get(struct shared_code_table *table, const struct jitbpf_mapping *mapping,
			  struct shared_code **ret);

static inline void shared_code_put(struct shared_code *shared)
{
	if (shared)
		space_value_put(&shared->value);
}

/*
 * What a process, whose own map is `own`, says of code in the object. The event has its
 * address there, the engine is code_engine_of(). Return 0 or -ENOMEM.
 */
int shared_code_apply(struct shared_code *shared, struct code_map *own,
		      const struct jit_event *event, uint64_t engine, uint64_t time_ns);
int shared_code_gap(struct shared_code *shared, struct code_map *own, uint64_t engine,
		    uint64_t from_ns, uint64_t to_ns, const uint64_t *live, size_t live_count);

/* Drop history, see code_map_forget(). */
void shared_code_table_forget(struct shared_code_table *table, uint64_t time_ns);

#endif
