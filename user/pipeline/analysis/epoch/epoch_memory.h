/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of an epoch: call paths, locations, names, threads and ledger rows. Each new one is
 * charged to the owner of the process whose sample or event adds it, until the epoch is destroyed.
 *
 * Nothing is evicted, since a profile counts all of its samples. When memory becomes short,
 * processes of one command share their paths (shared_rows.h). If an owner has no room, additions
 * are left out:
 * - The callers of a call path lose their order: of each caller, one location is kept, between two
 *   LOCATION_UNORDERED. Of the innermost frames, up to 8 of user space keep their order. So stacks
 *   with equal callers are counted together, and what each function has as SELF and TOTAL is exact.
 *   This takes room from a reserve of the owner.
 * - If there are too many different sets of callers as well, they become LOCATION_OTHERS. SELF
 *   stays exact, and the TOTAL of functions is counted beside the profile (hidden_callers.h).
 * - If the reserve is used up, too, a call path becomes LOCATION_LEFT_OUT, and the threads of a row
 *   are counted together.
 * - Processes are counted together as "[others of user N]".
 * - A name stays unknown.
 * Each of these is counted as refused, and no sample is lost.
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_EPOCH_EPOCH_MEMORY_H
#define JITBPF_PIPELINE_ANALYSIS_EPOCH_EPOCH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/owner_budget.h"
#include "locate/location.h"

struct epoch;
struct event_counts;

/* An owner that pays for a part of an epoch. */
struct epoch_payer {
	struct owner_key key;	    /* as requested; the owner's key may be that of all others */
	struct budget_owner *owner; /* a reference */
	uint64_t bytes;		    /* charged for this epoch */
	uint64_t cut_bytes;	    /* of the reserve for paths that are cut; not charged */
	uint32_t others;	    /* string number of "[others of user N]"; 0: none yet */
	uint32_t row;		    /* row of "[others of user N]", plus 1; 0: none yet */
};

/* The names with which samples are counted that have no room in their ledger row. */
struct epoch_rest {
	uint32_t comm;		  /* string: the name of the row, or of others; 0: none yet */
	uint32_t container, unit; /* as in struct sampled_thread */
};

/* Instead of a payer. FREE: nothing is charged. FULL: there is no room. */
#define EPOCH_FREE UINT32_MAX
#define EPOCH_FULL (UINT32_MAX - 1)

/* Begin to charge the additions to an epoch. budget outlives the epoch. */
void epoch_memory_init(struct epoch *epoch, struct owner_budget *budget);

/* Release all charges. */
void epoch_memory_deinit(struct epoch *epoch);

/* Find or add a payer. Returns 0 with its index in *ret, or -ENOMEM. */
int epoch_payer(struct epoch *epoch, struct owner_key key, uint32_t *ret);

/* Charge the present payer. Returns false if it has no room. */
bool epoch_pay(struct epoch *epoch, uint64_t bytes);

/* Charge the present payer for what must have room, also beyond its share. */
void epoch_pay_beyond(struct epoch *epoch, uint64_t bytes);

/* Returns true if the present payer uses more than parts/16 of its share. */
bool epoch_uses_16ths(const struct epoch *epoch, uint32_t parts);

/*
 * The reserve for paths that are cut, as parts of what an owner is charged: a half for the
 * innermost frames alone, less for more (cut_paths.c). It is not charged, so it takes no room from
 * rows and names.
 */
#define EPOCH_LEAF_SHARE 2

/* Returns true if the present payer's reserve has room for bytes, up to 1/share of its memory. */
bool epoch_has_reserve(const struct epoch *epoch, uint64_t bytes, uint64_t share);

/* Use the present payer's reserve. */
void epoch_pay_from_reserve(struct epoch *epoch, uint64_t bytes);

/* Count something that the present payer had no room for. */
void epoch_refuse(struct epoch *epoch);

/* Set *ret to the number of the string "[others of user N]". Returns 0 or -ENOMEM. */
int epoch_others(struct epoch *epoch, uint32_t payer, uint32_t *ret);

/*
 * Bytes that a ledger row is charged for: the row, its struct shared_row and epoch_rest, and the
 * nodes and counts to which epoch_rest_node() and epoch_rest_thread() fall back.
 */
#define EPOCH_ROW_BYTES                                                                            \
	(sizeof(struct ledger_process) + sizeof(struct shared_row) + sizeof(struct epoch_rest) +   \
	 2 * ITEM_INDEX_BYTES + 2 * PROFILE_NODE_BYTES + sizeof(struct profile_root) +             \
	 SAMPLED_THREAD_BYTES + THREAD_COUNT_BYTES)

/*
 * Find or add a location that has only a kind. It is not charged. Returns 0 and sets *ret, or
 * -ENOMEM.
 */
int epoch_location(struct epoch *epoch, enum location_kind kind, uint32_t *ret);

/* Get the node for samples of a row whose paths are left out. Returns 0 and sets *ret, or -ENOMEM.
 */
int epoch_rest_node(struct epoch *epoch, struct event_counts *counts, uint32_t row, uint32_t *ret);

/*
 * Count a sample that has no room, from the owner's reserve. Returns 0 and sets *ret to the index
 * of the count, or -ENOMEM or -EDQUOT (no room). epoch_count_rest() is for nodes and threads of a
 * row's rest, and needs no room.
 */
int epoch_count_left_out(struct epoch *epoch, struct event_counts *counts, uint32_t node,
			 uint32_t thread, uint64_t amount, uint32_t *ret);
int epoch_count_rest(struct epoch *epoch, struct event_counts *counts, uint32_t node,
		     uint32_t thread, uint64_t amount, uint32_t *ret);

/*
 * Get the thread that counts for all threads of a row that are left out. Returns 0 and sets *ret,
 * or -ENOMEM.
 */
int epoch_rest_thread(struct epoch *epoch, struct event_counts *counts, uint32_t row,
		      uint32_t *ret);

#endif
