/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of an epoch: call paths, locations, names, threads and ledger rows. Each new one is
 * charged to the owner of the process whose sample or event adds it, until the epoch is destroyed.
 *
 * Nothing is evicted, since a profile counts all of its samples. Processes of one command share
 * their paths before there is no room (shared_rows.h). What an owner has no room for is left out: a
 * call path is cut, and ends in a frame LOCATION_LEFT_OUT; the threads of a row are counted
 * together; processes are counted together as "[others of user N]"; a name stays unknown. Each of
 * them is counted as refused, and no sample is lost.
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_EPOCH_MEMORY_H
#define JITBPF_PIPELINE_ANALYSIS_EPOCH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/owner_budget.h"
#include "locate/location.h"

struct epoch;

/* An owner that pays for a part of an epoch. */
struct epoch_payer {
	struct owner_key key;	    /* as requested; that of the owner may be a larger one */
	struct budget_owner *owner; /* a reference */
	uint64_t bytes;		    /* charged for this epoch */
	uint64_t cut_bytes;	    /* of them, for the ends of cut paths */
	uint32_t others;	    /* string number of "[others of user N]"; 0: none yet */
	uint32_t row;		    /* of these others, plus 1; 0: none yet */
};

/* What the samples of a ledger row count for that have no room there. */
struct epoch_rest {
	uint32_t comm;		  /* string: the name of the row, or of others; 0: none yet */
	uint32_t container, unit; /* as in struct sampled_thread */
};

/* Instead of a payer: all is free, or there is no room at all. */
#define EPOCH_FREE UINT32_MAX
#define EPOCH_FULL (UINT32_MAX - 1)

/* Begin to charge what is added to an epoch. budget outlives the epoch. */
void epoch_memory_init(struct epoch *epoch, struct owner_budget *budget);

/* Release all charges. */
void epoch_memory_deinit(struct epoch *epoch);

/* Find or add a payer. Returns 0 with its index in *ret, or -ENOMEM. */
int epoch_payer(struct epoch *epoch, struct owner_key key, uint32_t *ret);

/* Charge the present payer. Returns false if it has no room. */
bool epoch_pay(struct epoch *epoch, uint64_t bytes);

/* Returns true if the present payer uses more than so many 16ths of what it may. */
bool epoch_uses_16ths(const struct epoch *epoch, uint32_t parts);

/* Count something that the present payer had no room for. */
void epoch_refuse(struct epoch *epoch);

/* Set *ret to the number of the string "[others of user N]". Returns 0 or -ENOMEM. */
int epoch_others(struct epoch *epoch, uint32_t payer, uint32_t *ret);

/*
 * Bytes that a ledger row is charged for: the row, its struct shared_row and epoch_rest, and the
 * nodes and counts to which epoch_rest_node() and epoch_rest_thread() fall back.
 */
#define EPOCH_ROW_BYTES 784

/* Find or add a location that has a kind only. It is free. Returns 0 and sets *ret, or -ENOMEM. */
int epoch_location(struct epoch *epoch, enum location_kind kind, uint32_t *ret);

/*
 * The node for samples of a row whose paths are left out behind `node`, or as a whole. Returns 0
 * and sets *ret, or -ENOMEM. *ret_whole: the path is left out as a whole.
 */
int epoch_cut_node(struct epoch *epoch, uint32_t row, uint32_t node, uint32_t *ret,
		   bool *ret_whole);
int epoch_rest_node(struct epoch *epoch, uint32_t row, uint32_t *ret);

/* Count a sample at such a node. Returns 0 and sets *ret to the index of the count, or -ENOMEM. */
int epoch_count_left_out(struct epoch *epoch, uint32_t node, uint32_t thread, uint32_t *ret);

/* The thread of a row for threads that are left out. Returns 0 and sets *ret, or -ENOMEM. */
int epoch_rest_thread(struct epoch *epoch, uint32_t row, uint32_t *ret);

#endif
