/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ledger accounts for every sample, for each process and in total, and counts what went wrong.
 */
#ifndef JITBPF_PROFILE_LEDGER_H
#define JITBPF_PROFILE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "profile/sample_fates.h"
#include "uapi/code_event.h"
#include "uapi/loss.h"

/* Counts of JIT records and code, per process or in total. */
struct jit_counts {
	uint64_t methods;
	uint64_t code_bytes;
	uint64_t unloads;
	uint64_t inlines; /* inlined ranges */
	uint64_t updates; /* updates of parts of methods */
	uint64_t moves;	  /* of methods to other addresses */
	/*
	 * Loads by enum jitbpf_publisher, and loads among them that describe code which another
	 * publisher had reported: methods = sum of published - merged.
	 */
	uint64_t published[JITBPF_PUBLISHER_COUNT];
	uint64_t merged;
	uint64_t other_events; /* known events that do not describe code */
	uint64_t late; /* methods of the journal that were loaded before the recording started */
	uint64_t recovered; /* lost events that were read from a journal */
	uint64_t inline_no_parent;
	uint64_t inline_outside;
	uint64_t inline_overlap;
	uint64_t update_refused; /* updates of unknown code, or across the boundary of a segment */
	/* loads and inlined ranges that a lost event may have ended: see code_map_gap() */
	uint64_t in_gap;
	uint64_t truncated;  /* events whose strings or tables were too large for a record */
	uint64_t incomplete; /* records that were truncated on their way */
	uint64_t malformed;  /* records that cannot be decoded, e.g. for an impossible length */
	uint64_t invalid;    /* size 0, wrapping range, or an unknown process */
	uint64_t over_budget;
	uint64_t evicted;	 /* methods that gave way: see pipeline/intake/code_room.h */
	uint64_t over_rate;	 /* see pipeline/intake/event_budget.h */
	uint64_t not_understood; /* unknown kinds of events and fields */
	uint64_t sequence_gaps;	 /* events missing by their sequence numbers, for good */
	uint64_t left_out;	 /* events that a full journal dropped */
	uint64_t unreadable;	 /* failed attempts to read a journal */
	uint64_t other_version;	 /* records, and journals, of another version of the publisher */
	/*
	 * methods that ended because their memory held other code, or could not be checked in time
	 */
	uint64_t replaced;
	uint64_t unchecked;
	uint64_t replaced_samples; /* samples of unknown code: it may not be the reported code */
	/*
	 * load times later than the probe hit, or long before it: replaced by the time of the hit
	 */
	uint64_t time_corrected;
};

#define LEDGER_RUNTIMES_MAX 4

struct ledger_process {
	uint32_t pid;
	uint32_t changed_round; /* number of the round in which the row last changed */
	uint64_t start_ns;	/* of its leader, CLOCK_BOOTTIME; 0: not known */
	/*
	 * Number of processes that share the row, which then has no pid. 0: the row of one process.
	 */
	uint64_t processes;
	uint32_t inner_pid; /* pid in the process's own namespace; 0 if it is the same or unknown */
	uint32_t comm;	    /* string number of the last known name */
	/* Strings as in struct sampled_thread: of the latest sample or event. */
	uint32_t container, unit;
	struct sample_fates samples;
	/* The runtimes of its latest program (engine_runtime_number()), then 0. */
	uint64_t runtimes[LEDGER_RUNTIMES_MAX];
	struct jit_counts jit;
};

/* The uses of memory that owners share (--max-memory). */
enum ledger_memory {
	LEDGER_MEMORY_CODE,    /* JIT code and mappings; events about code */
	LEDGER_MEMORY_PROFILE, /* call paths, names, threads and processes */
	LEDGER_MEMORY_FILES,   /* mapped files */
	LEDGER_MEMORY_COUNT
};

/* An owner whose processes had no memory left. */
struct ledger_owner {
	uint64_t uid; /* JITBPF_UNKNOWN_USER: not known */
	uint64_t cgroup;
	uint64_t refused; /* number of refused charges; 0: the entry is unused */
};

#define LEDGER_OWNERS_MAX 4

#define LEDGER_BLOCK_ROWS 16

struct ledger {
	/* by process number, including processes without counts */
	VEC(struct ledger_process) processes;
	/* The latest changed_round in each block of LEDGER_BLOCK_ROWS rows, see ledger_touch(). */
	VEC(uint32_t) changed_blocks;
	struct sample_fates samples;
	struct jit_counts jit;
	bool filtered;		    /* samples were filtered, while `counters` are system-wide */
	uint64_t malformed_records; /* unreadable records of the source */
	uint64_t throttled_ns;	    /* total over all CPUs */
	uint64_t throttles;
	/*
	 * Number of samples of earlier epochs of the run. The kernel counts them, but
	 * counters[JITBPF_COUNT_SAMPLES_TAKEN] is without them.
	 */
	uint64_t samples_before;
	/* counters of the kernel and the agent, see uapi/loss.h */
	uint64_t counters[JITBPF_COUNTER_MAX];
	/* For each use of memory, the owners with the most refusals, most first. */
	struct ledger_owner owners[LEDGER_MEMORY_COUNT][LEDGER_OWNERS_MAX];
};

/*
 * Returns the number of samples taken, as the sum of all fates. The BPF
 * programs' own count is counters[JITBPF_COUNT_SAMPLES_TAKEN]; both are equal
 * at the end of a run.
 */
uint64_t ledger_taken(const struct ledger *ledger);

/* Add a row in a round. Returns 0 or -ENOMEM. */
int ledger_add(struct ledger *ledger, const struct ledger_process *row, uint32_t round);

void jit_counts_add(struct jit_counts *counts, const struct jit_counts *more);

void ledger_deinit(struct ledger *ledger);

/* Mark a row as changed in a round. */
static inline void ledger_touch(struct ledger *ledger, struct ledger_process *row, uint32_t round)
{
	size_t number = (size_t)(row - ledger->processes.data);

	row->changed_round = round;
	ledger->changed_blocks.data[number / LEDGER_BLOCK_ROWS] = round;
}

#endif
