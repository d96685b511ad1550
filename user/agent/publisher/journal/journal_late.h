/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Late attach: reads the journals of processes that ran before the profiler. For each, it emits a
 * JOURNAL record with JITBPF_JOURNAL_LATE, then its JIT records. If a journal has dropped events,
 * only the entries after the last dropped one are certain, and only these are emitted.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_LATE_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_LATE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/publisher/journal/journal_owners.h"
#include "agent/publisher/journal/journal_file.h"
#include "agent/publisher/journal/journal_reader.h"
#include "agent/publisher/journal/journal_threads.h"
#include "pipeline/source.h"

typedef VEC(uint32_t) pid_vec;

/* The caller fills pids, and calls journal_late_deinit(). */
struct journal_late {
	/*
	 * In the order of reading. In shared memory, later events replace earlier ones: those of a
	 * child, which usually has the higher pid, replace its parent's.
	 */
	pid_vec pids;
	pid_vec unanswered; /* processes that did not answer in time; the caller takes them */
	struct file_store
		*store; /* borrowed, as journal_files_open() takes it; the caller sets it */
	enum jitbpf_publisher publisher; /* whose journals; the caller sets it */
	uint64_t wait_end_ns;		 /* until then, reading waits for processes; 0: not yet */
	size_t next_pid;		 /* index in pids of the next process to read */
	bool begun;			 /* the process `pid` is being read */
	uint32_t pid;
	struct journal_files files;
	size_t file; /* index in files of the journal that is being read */
	struct journal_reader reader;
	uint64_t from_sequence, had_to;		/* of that file */
	const struct process_owners *processes; /* borrowed, or NULL; the caller sets it */
	struct journal_budget budget;		/* of the process */
	struct journal_owners owners;
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
