/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rows of JIT code, by region identity (code_region_identity()), which all versions of a
 * region share. If the code was not copied at its load, the service reads it from the running
 * process. Such rows become valid only when all events up to the read are known, and the region was
 * still in force then. Memory is bounded, and divided by the owners of the processes: the number of
 * regions (base/owner_slots.h), and that of their rows (base/owner_budget.h). The owner with most
 * of them loses its oldest region.
 */
#ifndef JITBPF_UNWIND_UNWIND_REGIONS_H
#define JITBPF_UNWIND_UNWIND_REGIONS_H

#include <stdint.h>

#include "base/index_map.h"
#include "base/owner_slots.h"
#include "base/vec.h"
#include "unwind/unwind_key.h"
#include "unwind/unwind_service.h"
#include "state/process/process_table.h"

enum unwind_region_state {
	UNWIND_REGION_GONE = 0, /* empty slot */
	UNWIND_REGION_ASKED,
	UNWIND_REGION_READ,   /* rows exist, but may be of other code */
	UNWIND_REGION_KNOWN,  /* rows are valid */
	UNWIND_REGION_LATE,   /* no rows: the request timed out, and can be made again */
	UNWIND_REGION_UNREAD, /* no rows, for good */
};

struct unwind_region {
	enum unwind_region_state state;
	uint64_t identity;
	/* ASKED, READ: whose memory is read. NULL once it was retired, and in other states. */
	const struct process *process;
	struct owner_key owner; /* of the process */
	uint64_t address;	/* start of the region in that process */
	uint64_t read_ns;	/* when the code was read */
	uint64_t due_ns;	/* LATE: when it may be requested again */
	uint8_t timeouts;	/* of its requests */
	uint8_t *copy; /* copy of the code while it is requested; NULL if the code is read */
	size_t copy_bytes;
	struct unwind_rows rows;
	struct budget_owner *payer; /* of the rows, a reference; NULL: there are none */
};

struct unwind_regions {
	struct unwind_region *slots;
	struct owner_slots owners;  /* of the slots; busy: ASKED or READ */
	struct owner_budget rows;   /* of all regions */
	struct index_map index;	    /* of the regions, by identity */
	VEC(uint32_t) read;	    /* slots in state UNWIND_REGION_READ */
	uint64_t copied_bytes;	    /* of all copies */
	struct unwind_woken *woken; /* gets UNWIND_KEY_REGION of decided regions; or NULL */
	uint64_t now_ns;	    /* set by the caller, for timeouts */
	uint64_t known, unread;	    /* numbers of regions that reached these states */
};

/* Returns 0 or -ENOMEM. */
int unwind_regions_init(struct unwind_regions *regions);
void unwind_regions_deinit(struct unwind_regions *regions); /* zero-initialized is allowed */

/* Returns the region, or NULL. Borrowed until the next change. */
const struct unwind_region *unwind_regions_find(const struct unwind_regions *regions,
						uint64_t identity);

/*
 * Returns true for a region whose request timed out and may be made again. Until then, frames in it
 * are unwound by frame pointer.
 */
bool unwind_regions_is_due(const struct unwind_regions *regions,
			   const struct unwind_region *region);

/*
 * Add a region that starts at address in a process, in state UNWIND_REGION_ASKED. A region that is
 * due gets this state again. The process outlives the region, or is passed to
 * unwind_regions_forget_retired() once it is retired. Returns 0, -EBUSY (the owner's share of the
 * slots has pending requests) or -ENOMEM.
 */
int unwind_regions_ask(struct unwind_regions *regions, uint64_t identity,
		       const struct process *process, uint64_t address);

/* Drop the pointers to retired processes: their memory is not read any more. */
void unwind_regions_forget_retired(struct unwind_regions *regions);

/* Returns true if there is room for copies of large code. Copies of small code always have room. */
bool unwind_regions_has_room(const struct unwind_regions *regions);

/*
 * Attach a copy of the code to a requested region. Returns the copy that the table owns, valid
 * until unwind_regions_take() of the answer; NULL if memory is short.
 */
const uint8_t *unwind_regions_copied(struct unwind_regions *regions, uint64_t identity,
				     const uint8_t *copy, size_t size_bytes);

/*
 * Store the answer for a region. An answer for a region that is not requested
 * is ignored. If the answer has an error, the region has no rows, and its frames are
 * unwound by frame pointer; after the first few -ETIMEDOUT, only until it is due. Returns
 * 0 or -ENOMEM.
 */
int unwind_regions_take(struct unwind_regions *regions, const struct unwind_answer *answer);

/* Set a requested region to have no rows. */
void unwind_regions_refuse(struct unwind_regions *regions, uint64_t identity);

/*
 * Decide on regions that were read: all events before known_ns have been
 * applied to the processes. Returns the number of regions that were decided.
 */
uint32_t unwind_regions_settle(struct unwind_regions *regions, uint64_t known_ns);

#endif
