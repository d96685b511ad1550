/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The recovery of one loss of events, in slices (journal_recovery.h). */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_LOSS_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/publisher/journal/journal_reader.h"
#include "pipeline/source.h"

#define RECOVERY_PROCESS_NS  500000000ull
#define RECOVERY_SLICE_BYTES (1u << 20)

struct journal_recovery;

/* A loss of events of a process. The first one has first_sequence, at first_ns. */
struct journal_loss {
	uint32_t pid;
	uint64_t start_ns; /* start of the process, CLOCK_BOOTTIME; 0: not known */
	uint64_t first_ns, first_sequence;
	/* The state of its recovery; 0 at first. */
	bool whole, inherited;	/* see journal_recovery_note_whole() */
	bool begun;		/* its journal is open; the members below are set */
	bool collecting;	/* all lost events were emitted; live ones are collected */
	bool live_cut;		/* there are more of the live ones than a record may have */
	uint64_t tried_ns;	/* by patience: when it was first tried */
	uint64_t turn_ns;	/* last turn in which its process did not answer */
	uint64_t served_ns;	/* its cost so far */
	uint64_t from_sequence; /* first to emit */
	uint64_t expected;	/* the next one, if none is missing */
	struct jitbpf_journal_unsure unsure; /* as of then */
	struct journal_reader all;	     /* for collecting; its descriptor is borrowed */
};

/*
 * Recover a slice of a loss; last: there is no time for more in this round. Returns 1 if there is
 * more, 0 if the recovery has ended, -EINPROGRESS if its process does not answer yet, -ENOMEM, or
 * the taker's error.
 */
int journal_loss_recover(struct journal_recovery *recovery, struct journal_loss *loss, bool last,
			 record_taker_fn take, void *take_context);

#endif
