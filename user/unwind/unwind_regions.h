/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rows of JIT code, by region: all versions of one have the same (code_region_origin()).
 * Where its code was not copied when it was told of, but read later from a process that runs on
 * meanwhile, rows count only once it is known that the region still stood there then.
 *
 * Memory is bounded: what was asked for longest ago is forgotten.
 */
#ifndef JITBPF_UNWIND_UNWIND_REGIONS_H
#define JITBPF_UNWIND_UNWIND_REGIONS_H

#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "unwind/unwind_service.h"
#include "state/process/process_table.h"

enum unwind_region_state {
	UNWIND_REGION_GONE = 0, /* a slot without a region */
	UNWIND_REGION_ASKED,
	UNWIND_REGION_READ,   /* the rows may be those of other code */
	UNWIND_REGION_KNOWN,  /* the rows are its own */
	UNWIND_REGION_UNREAD, /* there will be no rows */
};

struct unwind_region {
	enum unwind_region_state state;
	uint64_t origin;
	const struct process *process; /* whose memory is read */
	uint64_t address;	       /* of its beginning there */
	uint64_t read_ns;
	uint8_t *copy; /* of its code, while it is asked for; NULL: it is read */
	struct unwind_rows rows;
};

struct unwind_regions {
	struct unwind_region *slots; /* a ring by number */
	uint64_t oldest, newest;     /* numbers: [oldest, newest) */
	struct index_map index;	     /* of those that are there, by origin */
	VEC(uint32_t) read;	     /* slots in state READ */
	uint64_t row_count;	     /* of all */
	uint64_t known, unread;	     /* how many became so */
};

/* Returns 0 or -ENOMEM. */
int unwind_regions_init(struct unwind_regions *regions);
void unwind_regions_deinit(struct unwind_regions *regions); /* zero-initialized is allowed */

/* NULL where nothing is there. Good until the next change. */
const struct unwind_region *unwind_regions_find(const struct unwind_regions *regions,
						uint64_t origin);

/*
 * Note that the code of a region, which begins at address, is to be read from a process, which
 * outlives the table. Returns 0; -EBUSY where all that are there are being read, or -ENOMEM.
 */
int unwind_regions_ask(struct unwind_regions *regions, uint64_t origin,
		       const struct process *process, uint64_t address);

/*
 * It need not be read: copy, which is the table's from now on, is what stood there. Returns it;
 * it stays until the answer has been taken.
 */
const uint8_t *unwind_regions_copied(struct unwind_regions *regions, uint64_t origin,
				     uint8_t *copy);

/*
 * Take in what came of it, or that the code cannot be had (error); an answer that nobody waits
 * for is passed over. Where its code says nothing, engines often keep frame pointers: that
 * is what the rows say then. Returns 0 or -ENOMEM.
 */
int unwind_regions_take(struct unwind_regions *regions, const struct unwind_answer *answer);

/* There will be no rows. */
void unwind_regions_refuse(struct unwind_regions *regions, uint64_t origin);

/* All that happened before known_ns has been applied to the processes: returns how many it settles.
 */
uint32_t unwind_regions_settle(struct unwind_regions *regions, uint64_t known_ns);

#endif
