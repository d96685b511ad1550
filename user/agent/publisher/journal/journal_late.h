/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Late attach: reads the journals of processes that ran before the profiler. For each, it emits a
 * JOURNAL record with JITBPF_JOURNAL_LATE, then its JIT records. Entries of code that may have
 * ended by an event that the journal lacks (struct jitbpf_journal_unsure) are left out.
 *
 * Owners (journal_owners.h) take turns: the next slice is of the owner whose journals have cost the
 * least CPU time, with what intake and analysis took for them. An owner whose journals have cost
 * JOURNAL_LATE_CPU_NS has no more of them read, since sampling starts after the last one; these are
 * reported as unreadable. Events after the start of the run wait in memory for the first round: up
 * to JOURNAL_LATE_HELD_BYTES, of which an owner has a share (base/owner_budget.h). The journals of
 * a process that has more of them are read in that round, as after a loss.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_LATE_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_LATE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/patience.h"
#include "agent/publisher/journal/journal_owners.h"
#include "agent/publisher/journal/journal_line.h"

#define JOURNAL_LATE_CPU_NS	15000000000ull
#define JOURNAL_LATE_HELD_BYTES (32u << 20)

typedef VEC(uint32_t) pid_vec;

/* The processes of an owner. */
struct late_owner {
	pid_vec pids;		      /* in the order of reading */
	size_t next;		      /* index in pids of the next one to begin with */
	struct journal_line line;     /* of the process that is being read */
	struct journal_budget budget; /* of that process */
	uint64_t served_ns;	      /* CPU time so far */
	struct budget_owner *held;    /* of late->held; a reference */
};

/* The caller fills pids, and calls journal_late_deinit(). */
struct journal_late {
	/*
	 * In the order of reading, which an owner's processes keep. In shared memory, later events
	 * replace earlier ones: those of a child, which usually has the higher pid, replace its
	 * parent's.
	 */
	pid_vec pids;
	pid_vec unanswered; /* to be read later; the caller takes them */
	struct file_store
		*store; /* borrowed, as journal_files_open() takes it; the caller sets it */
	enum jitbpf_publisher publisher; /* whose journals; the caller sets it */
	struct patience *patience;	 /* borrowed, or NULL; the caller sets it */
	uint64_t wait_end_ns; /* patience until which reading waits for processes; 0: not begun */
	const struct process_owners *processes; /* borrowed, or NULL; the caller sets it */
	struct journal_owners owners;
	VEC(struct late_owner) queues; /* parallel to owners.owners */
	size_t served;		       /* index of the owner of the last slice */
	uint64_t slice_cpu_ns;	       /* CPU time at its begin; 0: there was none */
	struct owner_budget held;
	uint64_t came_ns; /* of the current call, as the next ones */
	record_taker_fn take;
	void *take_context;
	struct journal_threads threads;
	journal_room room, record;
};

void journal_late_init(struct journal_late *late);
void journal_late_deinit(struct journal_late *late);

/*
 * Emit the next slice of a few MB. came_ns is the start of the run; the probe was attached before
 * this call. Returns 1 if there is more, 0 at the end, -ENOMEM, or the taker's error.
 */
int journal_late_read(struct journal_late *late, uint64_t came_ns, record_taker_fn take,
		      void *take_context);

#endif
