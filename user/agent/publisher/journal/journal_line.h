/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the journals of a process and of its ancestors (journal_file.h), the oldest first, in
 * slices. Of the process's own journal, only events are read whose numbers were given before it was
 * opened: the probe, which was attached before, reports the later ones. So a process cannot prolong
 * the reading by publishing.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_LINE_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/publisher/journal/journal_file.h"
#include "agent/publisher/journal/journal_reader.h"
#include "agent/publisher/journal/journal_threads.h"
#include "base/owner_budget.h"
#include "pipeline/source.h"

/* Zero-initialized: no journal is open. */
struct journal_line {
	bool begun; /* the members below are set */
	uint32_t pid;
	struct journal_files files;
	size_t file; /* index in files of the journal that is being read */
	struct journal_reader reader;
	uint64_t had_to; /* of that file */
};

/* One slice of reading. All is borrowed. */
struct line_reading {
	uint64_t from_ns;  /* events get no earlier time */
	uint64_t start_ns; /* of the records */
	uint16_t flags;	   /* of the records, in addition to JITBPF_JIT_FROM_JOURNAL */
	uint64_t most_bytes;
	struct journal_budget *budgets[2];
	/* The bytes of events after from_ns are charged to an owner of a budget. NULL: to none. */
	struct owner_budget *held;
	struct budget_owner *holder;
	struct journal_threads *threads;
	journal_room *room, *record;
	record_taker_fn take;
	void *take_context;
};

/* Begin to read the journals of a process, of which there is at least one. Takes their files. */
void journal_line_begin(struct journal_line *line, uint32_t pid, struct journal_files *files);

/*
 * Emit a slice. Returns 1 if there is more; 0 at the end; -EXFULL if the holder may not hold
 * more; as journal_reader_read(); or the taker's error.
 */
int journal_line_read(struct journal_line *line, const struct line_reading *reading);

/* Close the journals, if the line has begun. */
void journal_line_end(struct journal_line *line);

#endif
