/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JIT code in shared memory, as of the workers of a forking server. Its key is the mapped object
 * and the offset in it, whichever process compiled or runs the code. A report of a process that
 * could write the object holds for all processes that share it.
 *
 * An object lives as long as it has references: from mappings, including those in history, and
 * from processes that reported code in it.
 */
#ifndef JITBPF_STATE_PROCESS_SHARED_CODE_H
#define JITBPF_STATE_PROCESS_SHARED_CODE_H

#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "state/code/code_map.h"
#include "uapi/record.h"

/* A shared memory object, identified by device, inode and generation. */
struct shared_code {
	struct space_value value;
	struct shared_code_table *table;
	uint32_t number; /* index in table->all; changes when another object is freed */
	uint32_t dev_major, dev_minor;
	uint64_t inode, inode_generation;
	/*
	 * Number + 1 of the latest epoch in which a process that maps the object has begun; 0:
	 * none.
	 */
	uint32_t begun_in;
	struct code_map *code;		  /* addresses: shared_code_address(); NULL: no code yet */
	struct shared_code *next, **link; /* list of the objects with a map */
};

struct shared_code_table {
	const struct code_line_rules *line_rules; /* borrowed, or NULL */
	uint64_t *next_region;			  /* next region number; borrowed */
	VEC(struct shared_code *) all;		  /* by number, without a reference */
	struct index_map index;
	struct shared_code *with_code; /* head of the list of objects with a map */
	uint64_t generation;	       /* counts changes of all maps; see code_map_generation() */
};

/* In a code map, address 0 means none, so the addresses of an object begin at 4096. */
static inline uint64_t shared_code_address(uint64_t file_offset)
{
	return file_offset + 4096;
}

/* The caller has put all references to objects of the table before. */
void shared_code_table_deinit(struct shared_code_table *table);

/*
 * Find or add the object of a mapping. Returns 0 with a reference in *ret, or -ENOMEM. *ret is
 * NULL if the memory is private, or if the object cannot be identified.
 */
int shared_code_table_get(struct shared_code_table *table, const struct jitbpf_mapping *mapping,
			  struct shared_code **ret);

static inline void shared_code_put(struct shared_code *shared)
{
	if (shared)
		space_value_put(&shared->value);
}

/*
 * Apply an event or a gap of a process to the object's map; memory is charged to account.
 * Addresses are the object's, engines those of code_engine_of(). Return 0 or -ENOMEM.
 */
int shared_code_apply(struct shared_code *shared, struct code_account *account,
		      const struct code_event *event);
int shared_code_gap(struct shared_code *shared, struct code_account *account,
		    const struct code_gap *gap);

/* Drop history, see code_map_forget(). */
void shared_code_table_forget(struct shared_code_table *table, uint64_t time_ns);

#endif
