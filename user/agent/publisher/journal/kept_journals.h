/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The journals of processes that have lost events. They stay open, so that the next recovery
 * continues where the last one stopped. Event loop only.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_KEPT_JOURNALS_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_KEPT_JOURNALS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/files/file_store.h"
#include "agent/publisher/journal/journal_line.h"
#include "agent/publisher/journal/journal_reader.h"
#include "base/vec.h"
#include "uapi/code_event.h"

#define JOURNALS_KEPT_MAX 128 /* beyond it, the least recently used one is closed */

#define START_ANY UINT64_MAX /* start_ticks: not known */

/* A process that has lost events. */
struct journal_process {
	uint32_t pid;
	uint64_t start_ticks;
	struct journal_reader reader;  /* without a descriptor: it has published nothing */
	bool copied;		       /* the reader's journal is a copy, without later events */
	struct journal_line inherited; /* its ancestors' journals, begun if they are to be read */
	uint64_t epoch_ns; /* creation of the journal, at the first event of the process */
	struct journal_budget budget;
	/* All events with a sequence number in [had_from, had_to) have been emitted. */
	uint64_t had_from, had_to;
	uint64_t gap_end_ns; /* missing events are older than this; 0: none is missing */
	uint64_t used_ns;
	bool exited;
};

/* Zero-initialized: none. */
struct kept_journals {
	VEC(struct journal_process) processes;
};

/*
 * Returns a process by its pid and start, or NULL. With START_ANY, one that has exited counts only
 * if `exited` is set. Valid until the next call of another function.
 */
struct journal_process *kept_journals_find(struct kept_journals *kept, uint32_t pid,
					   uint64_t start_ticks, bool exited);

/*
 * Open the journal that a publisher in a process writes itself, and keep it; with `inherited`, also
 * those of its ancestors, and it may have none itself. Returns 0; -ENOENT if there is none, or the
 * process is another one; -ENOTSUP if it is of another version; or as journal_files_open().
 */
int kept_journals_open(struct kept_journals *kept, struct file_store *store,
		       enum jitbpf_publisher publisher, uint32_t pid, uint64_t start_ticks,
		       bool inherited, struct journal_process **ret);

/*
 * Open the journals of a kept process again: a copied one has all events so far then, and with
 * `inherited`, those of its ancestors are read again. Returns 0 or as kept_journals_open(), with
 * the process unchanged.
 */
int kept_journals_refresh(struct file_store *store, enum jitbpf_publisher publisher, bool inherited,
			  struct journal_process *process);

/* Note the exit of a process. */
void kept_journals_exited(struct kept_journals *kept, uint32_t pid);

/* Close the journals of processes that have exited. */
void kept_journals_close_exited(struct kept_journals *kept);

void kept_journals_deinit(struct kept_journals *kept);

#endif
