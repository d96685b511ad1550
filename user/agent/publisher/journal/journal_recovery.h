/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recovers lost JIT events from the journals of their processes. For each process, it emits the JIT
 * records of the missing events, then a JOURNAL record that says whether all were found
 * (uapi/record.h). Journals stay open, and the next reading continues where the last one stopped.
 *
 * A recovery is done in slices: one turn of the event loop spends RECOVERY_TURN_NS on all of them,
 * and reads about RECOVERY_TURN_BYTES. The round stays open meanwhile, for RECOVERY_OPEN_NS of
 * patience at most. Events that are not read by then count as unreadable: their code is unknown,
 * never wrong. The owner of processes (journal_owners.h) that has cost the least is served next.
 * One process may cost at most RECOVERY_PROCESS_NS. The cost is CPU time, and time spent waiting
 * for the process.
 *
 * Event loop only.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_RECOVERY_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/files/file_store.h"
#include "agent/patience.h"
#include "agent/publisher/journal/journal_loss.h"
#include "agent/publisher/journal/journal_owners.h"
#include "agent/publisher/journal/kept_journals.h"
#include "agent/publisher/journal/journal_reader.h"
#include "agent/publisher/journal/journal_threads.h"
#include "pipeline/source.h"

#define RECOVERY_TURN_NS    30000000ull
#define RECOVERY_TURN_BYTES (16u << 20)
#define RECOVERY_OPEN_NS    1000000000ull
#define RECOVERY_TURNS	    10 /* in a round, at least */

/*
 * Sequence numbers in a JOURNAL record; half of what JITBPF_CHUNK_MAX holds. Of a process with more
 * live code, the newest counts as ended, and its journal as unreadable.
 */
#define RECOVERY_LIVE_MAX (1u << 20)

struct journal_recovery {
	/* Borrowed, as journal_files_open() takes it; the caller sets it. */
	struct file_store *store;
	const struct process_owners *owners; /* borrowed; the caller sets it; NULL: not known */
	enum jitbpf_publisher publisher;     /* whose journals; the caller sets it */
	struct kept_journals kept;
	VEC(struct journal_loss) losses; /* not recovered yet; at most one is begun */
	struct journal_owners budgets;
	struct patience *patience; /* borrowed, or NULL; the caller sets it */
	uint64_t round_ns;	   /* of the current round, which has these: */
	uint32_t turns;
	uint64_t open_end_ns; /* patience until which it stays open */
	struct journal_threads threads;
	journal_room room, record;
	VEC(uint64_t) live; /* of the loss that is collecting */
	size_t live_max;    /* RECOVERY_LIVE_MAX */
};

void journal_recovery_init(struct journal_recovery *recovery);
void journal_recovery_deinit(struct journal_recovery *recovery);

/* Reserve memory for one journal_recovery_note(). Returns 0 or -ENOMEM. */
int journal_recovery_reserve(struct journal_recovery *recovery);

/* Note a loss, until it is recovered. Cannot fail after journal_recovery_reserve(). */
void journal_recovery_note(struct journal_recovery *recovery, const struct journal_loss *loss);

/*
 * Note that no event of a process's own journal may have been reported yet; with `inherited`, nor
 * of the code that it has inherited. from_ns is the time of the MAPPING or FORK record by which the
 * process got the shim; all records that are emitted are younger. Nothing is emitted if the process
 * has no journal. Returns 0 or -ENOMEM.
 */
int journal_recovery_note_whole(struct journal_recovery *recovery, uint32_t pid, uint64_t from_ns,
				bool inherited);

/*
 * Recover noted losses in a round that began at round_ns, for the time of a turn; full: without
 * another turn (struct publisher_ops). Returns 1 if
 * there is more to do in the round; 0 if not, after which the journals of ended processes are
 * closed; -ENOMEM, or the taker's error. After an error, the remaining losses stay noted, and the
 * next call does not emit again the events of this one.
 *
 * After the round, only losses by journal_recovery_note_whole() may be left, whose processes have
 * not answered yet.
 */
int journal_recovery_read(struct journal_recovery *recovery, uint64_t round_ns, bool full,
			  record_taker_fn take, void *take_context);

/*
 * Report that a process has ended. The next journal_recovery_read() closes its journal, which
 * occupies memory as long as it is open.
 */
void journal_recovery_exited(struct journal_recovery *recovery, uint32_t pid);

#endif
