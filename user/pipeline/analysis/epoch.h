/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An epoch: one profile with all that its numbers refer to. Numbers of nodes, locations, strings
 * and ledger rows are stable within an epoch and mean nothing outside it. When an epoch is
 * destroyed, the code regions that only its locations held are freed.
 *
 * The state (processes, mappings, code) belongs to the analysis and lives on from epoch to epoch.
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_EPOCH_H
#define JITBPF_PIPELINE_ANALYSIS_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/string_pool.h"
#include "base/vec.h"
#include "locate/location.h"
#include "profile/ledger.h"
#include "profile/profile.h"
#include "profile/thread_counts.h"
#include "sink/sink_list.h"
#include "state/process/process_table.h"
#include "symbolize/frame_table.h"
#include "symbolize/recorded_frames.h"

/* The ledger row of the process that has the slot; another process in it has a row of its own. */
struct epoch_row {
	uint32_t process; /* number, plus 1; 0: none */
	uint32_t row;
};

/* A process can rename itself at any rate. Above so many names, its row waits for a sample. */
#define EPOCH_NAMES_MAX 65536

struct epoch {
	uint32_t number;     /* counts up from 0 */
	uint64_t until_ns;   /* samples up to then belong to it; UINT64_MAX while it is current */
	struct epoch *older; /* closing, too */
	struct run_info info;
	struct view view; /* of the members below */
	struct string_pool *strings;
	struct location_table locations;
	struct frame_table *frames;
	struct recorded_frames *recorded;
	bool has_recorded;	/* the records brought names: the symbol service is not used */
	struct profile profile; /* the location of a root is the ledger row of its process */
	struct thread_counts threads;
	struct ledger ledger; /* as counted */
	/* The view's: complete as of the last update, see ledgers.c. Shares the rows of `ledger`.
	 */
	struct ledger ledger_now;
	struct jit_counts ended_jit; /* in rows of processes that were freed */
	uint32_t new_names;	     /* that processes gave themselves after they had a row */
	uint32_t round;		     /* counts rounds, for ledger_process.changed_round */
	struct sink_list sinks;
	uint32_t named;		    /* locations below it have names, or these were requested */
	uint64_t asked, answered;   /* requests to the symbol service */
	VEC(uint32_t) comms;	    /* string number plus 1, by number in the state's pool */
	VEC(struct epoch_row) rows; /* by process slot */
};

/* Borrows modules. Returns 0 or -ENOMEM. */
int epoch_create(uint32_t number, const struct module_table *modules,
		 const struct view_options *view, struct epoch **ret);
void epoch_destroy(struct epoch *epoch); /* NULL is allowed */

/* Copies *info. Returns 0 or -ENOMEM. */
int epoch_set_info(struct epoch *epoch, const struct run_info *info);

/* The epoch's number of a string of the state's pool. Returns 0 or -ENOMEM. */
int epoch_comm(struct epoch *epoch, const struct string_pool *state_strings, uint32_t number,
	       uint32_t *ret);

/*
 * The ledger row of a process, created if there is none, with its name brought up to date.
 * Returns 0 with the row's number in *ret, or -ENOMEM.
 */
int epoch_row(struct epoch *epoch, const struct string_pool *state_strings,
	      const struct process *process, uint32_t *ret);

/* Returns true, and sets *ret to its number, if a process has a row. */
bool epoch_has_row(const struct epoch *epoch, const struct process *process, uint32_t *ret);

/* The row of a process, or NULL if it has none. */
struct ledger_process *epoch_find_row(struct epoch *epoch, const struct process *process);

/* The epoch's number of a string of the state's pool; *ret is unchanged if it has none. */
void epoch_find_comm(const struct epoch *epoch, uint32_t number, uint32_t *ret);

#endif
