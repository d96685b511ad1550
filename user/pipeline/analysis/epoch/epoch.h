/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An epoch: a profile and everything that its numbers refer to. Numbers of nodes, locations,
 * strings and ledger rows are stable within an epoch, and have no meaning outside it. Destroying an
 * epoch frees the code regions that only its locations referred to.
 *
 * The state (processes, mappings, code) belongs to the analysis, and outlives epochs.
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_EPOCH_EPOCH_H
#define JITBPF_PIPELINE_ANALYSIS_EPOCH_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/string_pool.h"
#include "base/vec.h"
#include "locate/location.h"
#include "pipeline/analysis/epoch/epoch_memory.h"
#include "pipeline/analysis/epoch/event_counts.h"
#include "pipeline/analysis/epoch/shared_rows.h"
#include "profile/code_lane.h"
#include "profile/ledger.h"
#include "sink/sink_list.h"
#include "state/process/process_table.h"
#include "symbolize/frame_table.h"
#include "symbolize/recorded_code.h"
#include "symbolize/recorded_frames.h"

/* The ledger row of the process in a slot. A new process in the slot gets another row. */
struct epoch_row {
	uint32_t process; /* number, plus 1; 0: none */
	uint32_t row;
	uint32_t payer;
	bool shared; /* with other processes of the payer (shared_rows.h) */
};

/* What epoch.lane counts for the process in a slot. */
struct epoch_live {
	uint32_t process; /* number, plus 1; 0: none */
	uint32_t engine;  /* of the lane */
	uint64_t bytes;	  /* of its live code */
};

/* The process in a slot has begun in the epoch (begun_processes.h). */
struct epoch_begun {
	uint32_t process; /* number, plus 1; 0: none */
	bool open;	  /* false: an exec has ended this, and the new program has not begun */
	uint64_t missing; /* if not open: number of missing events at the exec */
};

/* The names of a cgroup that were used last. */
struct epoch_cgroup {
	uint64_t version; /* of the cgroup table; 0: none */
	uint64_t cgroup;
	uint32_t container, unit; /* strings */
};

/*
 * A process can rename itself at any rate. Above this number of names in an epoch, a ledger row
 * gets a new name only with a sample.
 */
#define EPOCH_NAMES_MAX 65536

struct epoch {
	uint32_t number;     /* counts up from 0 */
	uint64_t until_ns;   /* time of its last samples; UINT64_MAX: the current epoch */
	struct epoch *older; /* the next older closing epoch */
	struct run_info info;
	struct view view; /* of CPU time and the members below */
	struct string_pool *strings;
	struct location_table locations;
	struct frame_table *frames;
	struct recorded_frames *recorded;
	struct recorded_code code; /* with analysis_options.keep_code */
	bool has_recorded; /* the records contain names, so the symbol service is not used */
	bool names_read;   /* all names of the records are known (analysis_read_names()) */
	struct event_counts events[JITBPF_EVENTS_MAX];
	struct event_total totals[JITBPF_EVENTS_MAX];
	uint32_t shown;		  /* the event that outputs show, by view.options.event */
	struct event_view *views; /* of events from 1 on; NULL: there are none */
	const struct view *by_event[JITBPF_EVENTS_MAX]; /* for view.by_event */
	struct code_lane *lane;				/* NULL: not kept */
	VEC(struct epoch_live) live;			/* by process slot, for the lane */
	struct ledger ledger;				/* as counted */
	/* The view's ledger, complete up to the last update (ledgers.c). Shares its rows. */
	struct ledger ledger_now;
	struct jit_counts ended_jit; /* sum of the rows of freed processes */
	uint32_t new_names;	     /* names that processes took after they had a row */
	uint32_t round;		     /* counts rounds, for ledger_process.changed_round */
	struct epoch_cgroup cgroup;
	struct sink_list sinks;
	uint32_t named;		    /* locations with lower numbers have names or requests */
	uint64_t asked, answered;   /* numbers of requests to the symbol service, and of answers */
	VEC(uint32_t) comms;	    /* string number plus 1, by number in the state's pool */
	VEC(struct epoch_row) rows; /* by process slot */
	VEC(struct epoch_begun) begun;	/* the same */
	VEC(uint64_t) recorded_cgroups; /* IDs, ascending: a recording of the epoch has them */
	struct owner_budget *memory;	/* borrowed; of all epochs */
	VEC(struct epoch_payer) payers;
	VEC(struct shared_row) shared;
	struct index_map shared_index;
	VEC(struct epoch_rest) rests; /* by ledger row */
	uint32_t payer;		      /* index of the payer that additions are charged to */
};

/* Borrows modules, and memory, which the epoch is charged to. Returns 0 or -ENOMEM. */
int epoch_create(uint32_t number, const struct module_table *modules, struct owner_budget *memory,
		 const struct view_options *view, struct epoch **ret);
void epoch_destroy(struct epoch *epoch); /* NULL is allowed */

/*
 * Samples by time fold above this part of the profile's memory, which all events share, but each
 * event has EPOCH_SLICES_MIN. They are not charged: a page of one event has all detail from 256 MB
 * on.
 */
#define EPOCH_SLICES_SHARE 6
#define EPOCH_SLICES_MIN   4096

/* Keep samples and live code by time from now on. Returns 0 or -ENOMEM. */
int epoch_keep_time(struct epoch *epoch);

/* Copies *info. Returns 0 or -ENOMEM. */
int epoch_set_info(struct epoch *epoch, const struct run_info *info);

/*
 * Set *ret to the epoch's number of a string of the state's pool. Returns 0, -ENOMEM, or -EDQUOT
 * (no room).
 */
int epoch_comm(struct epoch *epoch, const struct string_pool *state_strings, uint32_t number,
	       uint32_t *ret);

/* Charge further additions to the epoch to the owner of a process. Returns 0 or -ENOMEM. */
int epoch_charge(struct epoch *epoch, const struct process *process);

/*
 * Find or add the ledger row of a process that is charged, and update its name and the strings of
 * its cgroup. Returns 0 with the row's number in *ret, or -ENOMEM.
 */
int epoch_row(struct epoch *epoch, const struct string_pool *state_strings,
	      const struct process *process, uint32_t container, uint32_t unit, uint32_t *ret);

/* Add a ledger row. Returns 0 with its number in *ret, or -ENOMEM. */
int epoch_new_row(struct epoch *epoch, const struct ledger_process *row, uint32_t *ret);

/* Returns true if the row of a process also counts other processes. */
bool epoch_is_shared(const struct epoch *epoch, const struct process *process);

/* Returns true with *ret set to the number of a process's row, or false if it has none. */
bool epoch_has_row(const struct epoch *epoch, const struct process *process, uint32_t *ret);

/* Returns the row of a process, or NULL. */
struct ledger_process *epoch_find_row(struct epoch *epoch, const struct process *process);

/* Set the runtimes of a process's own row. */
void epoch_set_runtimes(struct ledger_process *row, const struct process *process);

/* Set *ret to the epoch's number of a string of the state's pool; unchanged if it has none. */
void epoch_find_comm(const struct epoch *epoch, uint32_t number, uint32_t *ret);

#endif
