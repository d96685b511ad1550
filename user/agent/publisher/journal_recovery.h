/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JIT events that were lost on their way, from the journals of their processes: JIT
 * records, and a JOURNAL record that says whether all were there (uapi/record.h). Keeps
 * the journals open, and reads on where it was.
 *
 * Belongs to the event loop. What it does in one call is bounded, whatever the
 * processes write there.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_RECOVERY_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/publisher/journal_reader.h"
#include "pipeline/source.h"

#define JOURNALS_KEPT_MAX 128 /* past it the one that was not used for longest is closed */

/* A process that has lost events. */
struct journal_process {
	uint32_t pid;
	uint64_t start_ticks;
	struct journal_reader reader;
	uint64_t epoch_ns; /* when it made its journal, with its first event */
	struct journal_budget budget;
	/* All its events from the one number to below the other have been handed over. */
	uint64_t had_from, had_to;
	uint64_t used_ns;
	bool exited;
};

/* A process has lost events: from first_sequence and first_ns on. */
struct journal_loss {
	uint32_t pid;
	uint64_t start_ns; /* the process's, CLOCK_BOOTTIME */
	uint64_t first_ns, first_sequence;
};

struct journal_recovery {
	VEC(struct journal_process) processes;
	struct journal_budget budget; /* of all together */
	journal_room room, record;
	VEC(uint64_t) live;
};

void journal_recovery_init(struct journal_recovery *recovery);
void journal_recovery_deinit(struct journal_recovery *recovery);

/* Hand over what a process has lost. Returns 0, -ENOMEM, or the taker's error. */
int journal_recovery_read(struct journal_recovery *recovery, const struct journal_loss *loss,
			  record_taker_fn take, void *take_context);

/*
 * Hand over all that stands in a process's own journal, which it may have told nobody
 * else; from_ns: it did so from then on. Without a journal it has told nothing.
 * Returns as above.
 */
int journal_recovery_read_whole(struct journal_recovery *recovery, uint32_t pid, uint64_t from_ns,
				record_taker_fn take, void *take_context);

/*
 * A process has ended: its journal, which would take up memory for as long as it is
 * open, is closed with the next journal_recovery_close_exited().
 */
void journal_recovery_exited(struct journal_recovery *recovery, uint32_t pid);
void journal_recovery_close_exited(struct journal_recovery *recovery);

#endif
