/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where every sample went. For each process and in all:
 *   taken = resolved + code unknown + stack cut + lost
 */
#ifndef JITBPF_PROFILE_LEDGER_H
#define JITBPF_PROFILE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "uapi/loss.h"
#include "uapi/record.h"

enum sample_fate {
	FATE_RESOLVED,
	FATE_CODE_UNKNOWN, /* some frame lay where no code was known at that time */
	FATE_STACK_CUT,	   /* all frames known, but the walk did not reach the root */
	FATE_LOST,	   /* taken, and not delivered or not readable */
	FATE_COUNT
};

/* Counts of JIT records and code, of one process or in all. */
struct jit_counts {
	uint64_t methods;
	uint64_t code_bytes;
	uint64_t unloads;
	uint64_t inlines;      /* inlined ranges */
	uint64_t updates;      /* of parts of methods */
	uint64_t other_events; /* known, and about something else than code */
	uint64_t late;	       /* of methods: known from a journal, from before we came */
	uint64_t recovered;    /* events that were lost on the way, and found in a journal */
	uint64_t inline_no_parent;
	uint64_t inline_outside;
	uint64_t inline_overlap;
	uint64_t update_refused; /* of no known code, or across a segment's border */
	uint64_t in_gap;	 /* among lost records, and over when those ended */
	uint64_t incomplete;	 /* records of which a part was missing, on their way */
	uint64_t malformed;	 /* impossible lengths and the like */
	uint64_t invalid;	 /* size 0, wrapping range; of a process that is long gone */
	uint64_t over_budget;
	uint64_t not_understood; /* events and fields of other kinds */
	uint64_t sequence_gaps;	 /* events that the sequence numbers say are missing, for good */
	uint64_t left_out;	 /* events that journals had no room for */
	uint64_t unreadable;	 /* times that a journal was wanted and could not be read */
	uint64_t time_corrected; /* load times after the hit or long before: the hit's taken */
};

struct ledger_process {
	uint32_t pid;
	uint32_t inner_pid; /* as the process sees itself; 0: the same, as far as we know */
	uint32_t comm;	    /* number in the string pool: the last name */
	uint64_t fate[FATE_COUNT];
	uint64_t cut[JITBPF_END_COUNT]; /* FATE_STACK_CUT by reason: enum jitbpf_stack_end */
	uint64_t frame_pointers;	/* of all fates: some caller was found by a frame pointer */
	struct jit_counts jit;
};

struct ledger {
	VEC(struct ledger_process) processes; /* by process number; those without any count too */
	uint64_t fate[FATE_COUNT];
	uint64_t cut[JITBPF_END_COUNT];
	uint64_t frame_pointers;
	struct jit_counts jit;
	bool filtered;		    /* of some samples only: counters are of all */
	uint64_t malformed_records; /* records of the source that could not be read */
	uint64_t throttled_ns;	    /* added up over CPUs */
	uint64_t throttles;
	uint64_t counters[JITBPF_COUNTER_MAX]; /* the kernel's and the agent's own: uapi/loss.h */
};

/*
 * Samples taken according to the sum of the fates. The BPF programs' own count
 * is counters[JITBPF_COUNT_SAMPLES_TAKEN]; they agree at the end of a run.
 */
uint64_t ledger_taken(const struct ledger *ledger);

#endif
