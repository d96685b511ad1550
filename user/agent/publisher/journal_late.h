/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What processes did before we came, from their journals: JOURNAL records with LATE,
 * and the JIT records behind them. With events of which a journal says that it had no
 * room for them, only what came after them is certain, and the rest is left out.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_LATE_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_LATE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/publisher/journal_file.h"
#include "agent/publisher/journal_reader.h"
#include "agent/kernel/process_scan.h"
#include "pipeline/source.h"

/* The caller fills pids in, and calls journal_late_deinit(). */
struct journal_late {
	/*
	 * In the order in which they are read: in memory that they share, what a child says
	 * stands over what its parent does, which will mostly have come first.
	 */
	pid_vec pids;
	size_t next_pid; /* the first of them that is still to be read */
	bool begun;	 /* with the process below */
	uint32_t pid;
	struct journal_files files;
	size_t file; /* of them, the one being read */
	struct journal_reader reader;
	uint64_t from_sequence, had_to; /* of that file */
	struct journal_budget budget, budget_of_all;
	journal_room room, record;
};

void journal_late_init(struct journal_late *late);
void journal_late_deinit(struct journal_late *late);

/*
 * Hand over a slice, a few MB, as of came_ns, when we came; the probe has been
 * attached since. Returns 1 if there is more, 0 at the end, or negative errno (-ENOMEM,
 * or the taker's error).
 */
int journal_late_read(struct journal_late *late, uint64_t came_ns, record_taker_fn take,
		      void *take_context);

#endif
