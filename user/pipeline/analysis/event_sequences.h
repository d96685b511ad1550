/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tracks the code events of a process by sequence number. Each publisher, and each dump file, has
 * its own count. An event can come live and from the publisher's log, in any order, and is applied
 * once.
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_EVENT_SEQUENCES_H
#define JITBPF_PIPELINE_ANALYSIS_EVENT_SEQUENCES_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/record/code_event.h"
#include "state/process/sequence_set.h"

/* Limit of counts of one process; events of further dump files are not tracked. */
#define EVENT_ORIGINS_MAX 64

/* The sequence numbers of one origin: a publisher's engine in a process. */
struct origin_sequences {
	enum jitbpf_publisher publisher;
	uint64_t engine;     /* number of the dump file; 0 for the shim */
	uint64_t program_ns; /* exec of the program whose events it counts; 0: before the run */
	struct sequence_set come; /* received live or from the log */
	struct sequence_set read; /* received from the log; their live events are dropped */
	uint64_t gaps;		  /* missing events of earlier programs */
	uint64_t left_out;	  /* events left out by the program's journal, counted so far */
};

/* Zero-initialized: a program that ran before the profiler. */
struct event_sequences {
	VEC(struct origin_sequences) origins;
	uint64_t gaps_before; /* missing events of earlier epochs */
};

/*
 * Find or add the count of an origin, for the program that began at program_ns; a new program
 * counts from 0. Returns 0 with *ret set, -EDQUOT (too many origins) or -ENOMEM. *ret is valid
 * until the next call.
 */
int event_sequences_get(struct event_sequences *sequences, const struct code_origin *origin,
			uint64_t program_ns, struct origin_sequences **ret);

/*
 * Note an event. Returns 1 if it is new, 0 if it came before by the other way (live or log), or
 * -ENOMEM. Two shims in one process have separate counts, so a number that comes twice live is new
 * both times.
 */
int origin_sequences_add(struct origin_sequences *origin, uint64_t sequence, bool from_log);

/* Return the missing events of all origins and programs: in all epochs, and in the current one. */
uint64_t event_sequences_missing(const struct event_sequences *sequences);
uint64_t event_sequences_gaps(const struct event_sequences *sequences);

/* At the end of an epoch: missing events so far are not counted in the next one. */
void event_sequences_end_epoch(struct event_sequences *sequences);

void event_sequences_deinit(struct event_sequences *sequences);

#endif
