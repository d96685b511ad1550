/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which of a process's JIT events have come, by their sequence numbers: an event can
 * come by the probe and from the journal, in any order, and is to be applied once.
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_JIT_SEQUENCES_H
#define JITBPF_PIPELINE_ANALYSIS_JIT_SEQUENCES_H

#include <stdbool.h>
#include <stdint.h>

#include "state/process/sequence_set.h"

/* Zero-initialized: of a program that ran before we came. */
struct jit_sequences {
	uint64_t program_ns;	  /* when the program began that this is about; 0: before us */
	struct sequence_set come; /* whichever way */
	struct sequence_set read; /* from the journal: the probe's do not count any more */
	uint64_t gaps;		  /* missing of the programs before it */
};

/* Begin to count anew, from 0, where it is another program; else do nothing. */
void jit_sequences_begin(struct jit_sequences *sequences, uint64_t program_ns);

/*
 * An event has come. Returns 1 if it is new, 0 if it came the other way before, or
 * -ENOMEM. Two shims in one process count each for itself, so that a number which
 * comes twice by the probe says nothing: it is new.
 */
int jit_sequences_add(struct jit_sequences *sequences, uint64_t sequence, bool from_journal);

/* How many events are missing, of all programs. */
uint64_t jit_sequences_gaps(const struct jit_sequences *sequences);

void jit_sequences_deinit(struct jit_sequences *sequences);

#endif
