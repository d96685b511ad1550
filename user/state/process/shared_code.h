/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JIT code in memory that processes share, as the workers of a forking server do: it is
 * keyed by the mapped object and the offset in it, whichever process compiled it or runs
 * it. All processes that share an object believe what one of them reports about it.
 *
 * An object lives as long as something holds it: mappings of it, past ones included, and
 * processes that reported code in it.
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
	struct code_map *code;		  /* by shared_code_address(); NULL: none was reported */
	struct shared_code *next, **link; /* list of those that have a map */
};

struct shared_code_table {
	const struct code_line_rules *line_rules; /* borrowed, or NULL */
	uint64_t *next_region;			  /* borrowed */
	VEC(struct shared_code *) all;		  /* by number; not held */
	struct index_map index;
	struct shared_code *with_code;
	uint64_t generation; /* of all code maps together: see code_map_generation() */
};

/* To a code map address 0 is none, so the addresses of an object begin at 4096. */
static inline uint64_t shared_code_address(uint64_t file_offset)
{
	return file_offset + 4096;
}

/* All references that the table gave away have been put before. */
void shared_code_table_deinit(struct shared_code_table *table);

/*
 * The object that a mapping shares; NULL if its memory is private, or the object cannot be
 * told from others. Returns 0 with a reference in *ret, or -ENOMEM.
 */
int shared_code_table_get(struct shared_code_table *table, const struct jitbpf_mapping *mapping,
			  struct shared_code **ret);

static inline void shared_code_put(struct shared_code *shared)
{
	if (shared)
		space_value_put(&shared->value);
}

/*
 * Apply an event or a gap of a process to the object, charged to its account. Addresses are
 * the object's, engines are made by code_engine_of(). Return 0 or -ENOMEM.
 */
int shared_code_apply(struct shared_code *shared, struct code_account *account,
		      const struct code_event *event);
int shared_code_gap(struct shared_code *shared, struct code_account *account,
		    const struct code_gap *gap);

/* Drop history, see code_map_forget(). */
void shared_code_table_forget(struct shared_code_table *table, uint64_t time_ns);

#endif
