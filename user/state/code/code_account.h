/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The account of one process: the budget of its JIT code, the memory that is in use, and counts
 * of its events.
 *
 * A process may report to several code maps (state/process/process_code.h), and the maps of its
 * children share its regions. So an account is reference counted: each region or inlined method
 * that is charged to it holds a reference. Single-threaded.
 */
#ifndef JITBPF_STATE_CODE_CODE_ACCOUNT_H
#define JITBPF_STATE_CODE_CODE_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/charge_log.h"
#include "base/owner_budget.h"
#include "base/scope.h"
#include "state/code/code_texts.h"
#include "state/space/cow_tree.h"
#include "uapi/code_event.h"

#define CODE_OWN_LINES_BITS 28
#define CODE_OWN_LINES_MAX  ((1u << CODE_OWN_LINES_BITS) - 1) /* of one line table */

/*
 * Limits on the code of one process that is in memory: in force, in history, or referenced. An
 * event that would exceed a limit is refused and counted. Inherited code stays charged to the
 * parent.
 */
struct code_budget {
	uint64_t methods;    /* regions, versions of them, and methods without code */
	uint64_t name_bytes; /* of all strings and scope tables */
	uint64_t lines;	     /* entries of all line tables */
	uint64_t inlines;    /* inlined ranges, and updated ranges */
	/*
	 * Inlined ranges in one map whose parent is not known yet, and their bytes. Beyond these
	 * limits, the ranges that have waited longest are dropped.
	 */
	uint64_t waiting, waiting_bytes;
	uint32_t depth; /* levels of inlining, below CODE_LEVELS_MAX */
};

extern const struct code_budget code_budget_default;

/* Counts of a process's events. All but inline_no_parent only grow. */
struct code_counts {
	uint64_t loads;				    /* regions entered; a merged load enters none */
	uint64_t code_bytes;			    /* sum of their sizes */
	uint64_t published[JITBPF_PUBLISHER_COUNT]; /* loads applied, merged ones included */
	uint64_t merged; /* loads of code that another publisher had reported */
	uint64_t moves;
	uint64_t move_unknown;	   /* moves of unknown code, or with another size */
	uint64_t unloads;	   /* events that ended a region or a registration */
	uint64_t unload_unknown;   /* unloads that ended nothing */
	uint64_t replaced;	   /* regions that other code replaced without a report */
	uint64_t unchecked;	   /* regions that ended: other code may have replaced them */
	uint64_t evicted;	   /* regions, and methods without code, that gave way */
	uint64_t inlines;	   /* inlined ranges entered */
	uint64_t inline_no_parent; /* inlined ranges without a parent (yet) */
	uint64_t inline_outside;   /* refused: not inside their parent */
	uint64_t inline_overlap;   /* refused: overlap another inlined range of their parent */
	uint64_t updates;	   /* updates and line tables applied */
	uint64_t update_unknown;   /* updates and line tables for code that is not known */
	uint64_t segment_overlap;  /* refused: segments across the border of an earlier one */
	uint64_t in_gap;	   /* refused: may have ended in a gap, see code_map_gap() */
	uint64_t invalid;	   /* refused: size 0, a range that wraps, no id */
	uint64_t over_budget;	   /* refused; the code that loads overwrite has ended */
	uint64_t nothing;	   /* events that are not about code, registrations included */
	uint64_t not_understood;   /* events of unknown kinds */
	uint64_t unknown_fields;
};

struct code_map;
struct code_region;

/*
 * Receives each region that comes into force in a map, or ends there. A new version of a region
 * ends the version before. Regions that a map inherited are reported for the map of the parent
 * only.
 */
struct code_watch {
	void (*changed)(void *context, const struct code_map *map, const struct code_region *region,
			bool in_force);
	void *context;
};

struct code_account {
	uint32_t refs;
	const struct code_watch *watch; /* of its regions; borrowed; NULL: none */
	struct code_budget budget;
	struct code_counts counts;
	struct code_counts counted; /* the part of counts that the owner of the account has read */
	uint64_t methods, name_bytes, lines, inlines; /* in memory */
	uint64_t live_bytes;	    /* code of its regions in force, without inherited regions */
	struct code_text_set texts; /* of its regions */
	/*
	 * The owner of the process, which is charged for its memory. Both NULL: nobody is charged.
	 */
	struct owner_budget *memory; /* borrowed */
	struct budget_owner *owner;  /* a reference */
	uint64_t bytes;		     /* charged to the owner */
	struct charge_log *charges;  /* of the owners' memory; borrowed; NULL: none is kept */
	bool starved;		     /* the owner had no room for the last charge */
};

/* Returns 0 with one reference in *ret, or -ENOMEM. */
int code_account_create(const struct code_budget *budget, struct code_account **ret);

static inline struct code_account *code_account_get(struct code_account *account)
{
	account->refs++;
	return account;
}

void code_account_put(struct code_account *account); /* NULL is allowed */

DEFINE_CLEANUP(struct code_account *, code_account_put);

/*
 * Set the owner that is charged, including memory that is already in use. memory is borrowed, and
 * outlives all references to the account. Returns 0, or -ENOMEM with nothing changed.
 */
int code_account_set_owner(struct code_account *account, struct owner_budget *memory,
			   struct owner_key key);

/* What a region takes in the trees of a map: by address and by method. */
#define CODE_ENTRY_BYTES (COW_ITEM_BYTES + COW_KEY_BYTES)

/*
 * Charge or release the memory of one object of `bytes`, plus CODE_ENTRY_BYTES.
 * Charging returns 0 or -EDQUOT: the owner has no room, or had none when the record was recorded.
 */
int code_account_charge(struct code_account *account, uint64_t bytes);
void code_account_release(struct code_account *account, uint64_t bytes);

/*
 * The same for an object, and for memory that it shares with later ones: one charge. The memory is
 * released alone.
 */
int code_account_charge_with(struct code_account *account, uint64_t bytes, uint64_t shared_bytes);
void code_account_release_shared(struct code_account *account, uint64_t shared_bytes);

/* Note a charge that was not tried, since an earlier one was refused. */
void code_account_skip_charge(struct code_account *account);

/* Count an event or object that was refused by the last charge, or by the budget. */
void code_account_count_refused(struct code_account *account);

/* Returns true if strings and lines of these sizes fit into the budget. */
bool code_account_fits(const struct code_account *account, uint64_t name_bytes, uint64_t lines);

#endif
