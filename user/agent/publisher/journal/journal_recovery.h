/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recovers lost JIT events from the journals of their processes. For each process, it emits the JIT
 * records of the missing events, then a JOURNAL record that says whether all were found
 * (uapi/record.h). Journals stay open, and the next reading continues where the last one stopped.
 *
 * Event loop only. The work of one call is bounded, whatever processes write.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_RECOVERY_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/publisher/journal/journal_reader.h"
#include "pipeline/source.h"

#define JOURNALS_KEPT_MAX                                                                          \
	128 /* open journals; beyond it, the least recently used one is closed                     \
	     */

/* A process that has lost events. */
struct journal_process {
	uint32_t pid;
	uint64_t start_ticks;
	struct journal_reader reader;
	uint64_t epoch_ns; /* creation of the journal, at the first event of the process */
	struct journal_budget budget;
	/* All events with a sequence number in [had_from, had_to) have been emitted. */
	uint64_t had_from, had_to;
	uint64_t gap_end_ns; /* missing events are older than this; 0: none is missing */
	uint64_t used_ns;
	bool exited;
};

/* A loss of events of a process. The first one has first_sequence, at first_ns. */
struct journal_loss {
	uint32_t pid;
	uint64_t start_ns; /* start of the process, CLOCK_BOOTTIME */
	uint64_t first_ns, first_sequence;
};

struct journal_recovery {
	struct file_store
		*store; /* borrowed, as journal_files_open() takes it; the caller sets it */
	VEC(struct journal_process) processes;
	VEC(struct journal_loss) losses; /* not recovered yet */
	struct journal_budget budget;	 /* of all processes together */
	journal_room room, record;
	VEC(uint64_t) live;
};

void journal_recovery_init(struct journal_recovery *recovery);
void journal_recovery_deinit(struct journal_recovery *recovery);

/* Reserve memory for one journal_recovery_note(). Returns 0 or -ENOMEM. */
int journal_recovery_reserve(struct journal_recovery *recovery);

/* Note a loss, until it is recovered. Cannot fail after journal_recovery_reserve(). */
void journal_recovery_note(struct journal_recovery *recovery, const struct journal_loss *loss);

/*
 * Recover all noted losses, then close the journals of ended processes. The journal of a process
 * that does not answer at once counts as unreadable. Returns 0, -ENOMEM, or the taker's error.
 * After an error, the remaining losses stay noted, and the next call does not emit again the events
 * of this one.
 */
int journal_recovery_read(struct journal_recovery *recovery, record_taker_fn take,
			  void *take_context);

/*
 * Emit all events of a process's own journal, none of which may have been reported yet. from_ns is
 * the time of the MAPPING or FORK record by which the process got the shim; all records that are
 * emitted are younger. Does nothing if the process has no journal. Returns as above, or
 * -EINPROGRESS if the process does not answer yet.
 */
int journal_recovery_read_whole(struct journal_recovery *recovery, uint32_t pid, uint64_t from_ns,
				record_taker_fn take, void *take_context);

/*
 * Report that a process has ended. The next journal_recovery_read() closes its journal, which
 * occupies memory as long as it is open.
 */
void journal_recovery_exited(struct journal_recovery *recovery, uint32_t pid);

#endif
