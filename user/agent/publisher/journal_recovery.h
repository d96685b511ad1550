/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recovers lost JIT events from the journals of their processes. Emits the JIT records, then a
 * JOURNAL record that says whether all events were there (uapi/record.h). Keeps journals open and
 * continues reading where it stopped.
 *
 * Belongs to the event loop. The work of one call is bounded, whatever processes write there.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_RECOVERY_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/publisher/journal_reader.h"
#include "pipeline/source.h"

#define JOURNALS_KEPT_MAX 128 /* open; past it the least recently used one is closed */

/* A process that has lost events. */
struct journal_process {
	uint32_t pid;
	uint64_t start_ticks;
	struct journal_reader reader;
	uint64_t epoch_ns; /* when the process made the journal, with its first event */
	struct journal_budget budget;
	/* All events with a sequence number in [had_from, had_to) have been handed over. */
	uint64_t had_from, had_to;
	uint64_t gap_end_ns; /* missing events are from before it; 0: none is missing */
	uint64_t used_ns;
	bool exited;
};

/* A process has lost events, the first of them with first_sequence at first_ns. */
struct journal_loss {
	uint32_t pid;
	uint64_t start_ns; /* the process's, CLOCK_BOOTTIME */
	uint64_t first_ns, first_sequence;
};

struct journal_recovery {
	VEC(struct journal_process) processes;
	VEC(struct journal_loss) losses; /* noted, and not recovered yet */
	struct journal_budget budget;	 /* of all processes together */
	journal_room room, record;
	VEC(uint64_t) live;
};

void journal_recovery_init(struct journal_recovery *recovery);
void journal_recovery_deinit(struct journal_recovery *recovery);

/* Make room for one journal_recovery_note(). Returns 0 or -ENOMEM. */
int journal_recovery_reserve(struct journal_recovery *recovery);

/* Note a loss, which stays until it has been recovered. Cannot fail after reserving room. */
void journal_recovery_note(struct journal_recovery *recovery, const struct journal_loss *loss);

/*
 * Recover all losses that are noted, then close the journals of processes that have ended.
 * Returns 0, -ENOMEM, or the taker's error; after an error the losses that remain are noted
 * still, and the next call hands over only what this one did not.
 */
int journal_recovery_read(struct journal_recovery *recovery, record_taker_fn take,
			  void *take_context);

/*
 * Hand over all events in a process's own journal, none of which may have been reported. from_ns is
 * the time of the MAPPING or FORK record with which the process got the shim: all records that are
 * handed over are younger. Does nothing if the process has no journal. Returns as above.
 */
int journal_recovery_read_whole(struct journal_recovery *recovery, uint32_t pid, uint64_t from_ns,
				record_taker_fn take, void *take_context);

/*
 * A process has ended. Its journal takes up memory for as long as it is open; the next
 * journal_recovery_read() closes it.
 */
void journal_recovery_exited(struct journal_recovery *recovery, uint32_t pid);

#endif
