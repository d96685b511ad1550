/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The journals of processes that ran before us: emits JOURNAL records with JITBPF_JOURNAL_LATE and,
 * after each, its JIT records. Where a journal has left events out, only what came after the last
 * of those is certain; earlier entries are not handed over.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_LATE_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_LATE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/publisher/journal_file.h"
#include "agent/publisher/journal_reader.h"
#include "pipeline/source.h"

typedef VEC(uint32_t) pid_vec;

/* The caller fills pids in, and calls journal_late_deinit(). */
struct journal_late {
	/*
	 * In the order of reading. In memory that processes share, later events win: a child's,
	 * whose pid mostly is the greater one, over its parent's.
	 */
	pid_vec pids;
	size_t next_pid; /* first of pids that is still to be read */
	bool begun;	 /* with the process below */
	uint32_t pid;
	struct journal_files files;
	size_t file; /* of files, the one being read */
	struct journal_reader reader;
	uint64_t from_sequence, had_to; /* of that file */
	struct journal_budget budget, budget_of_all;
	journal_room room, record;
};

void journal_late_init(struct journal_late *late);
void journal_late_deinit(struct journal_late *late);

/*
 * Hand over a slice, a few MB, as of came_ns, the start of the run. The probe is attached by then.
 * Returns 1 if there is more, 0 at the end, or negative errno (-ENOMEM, or the taker's error).
 */
int journal_late_read(struct journal_late *late, uint64_t came_ns, record_taker_fn take,
		      void *take_context);

#endif
