/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the journal of this process (uapi/jit_journal.h), for a profiler that attaches late or
 * loses records. It begins with journal_prepare(), and in a forked child with its first event.
 * If the system refuses memory for it, events go to the probe only.
 *
 * Callers may be any thread, a signal handler, or code that runs before the constructors. Only
 * journal_prepare() makes system calls.
 */
#ifndef JITBPF_SHIM_JOURNAL_H
#define JITBPF_SHIM_JOURNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "jitapi-shim/journal_lock.h"
#include "jitapi-shim/record.h"
#include "uapi/jit_journal.h"

/* State in the process's own memory. All zeros: the journal has not begun. */
struct journal {
	journal_lock lock; /* guards all but the atomics */
	struct jitbpf_journal_header *_Atomic header;
	uint64_t capacity;
	uint64_t used_bytes;
	uint32_t entry_count;
	uint64_t since_bytes; /* of events since the last compaction */
	/*
	 * Loads and names of threads in the log; and the events since the last compaction that have
	 * ended some of them, or may have.
	 */
	uint64_t load_count, end_count;
	_Atomic uint64_t left_out; /* events refused before there was a header */
	_Atomic bool refused;	   /* a thread was refused the lock */
};

/*
 * Reserve memory and begin the journal of this process, unless it has one. The shim calls it when
 * it is loaded; the agent before it enables its events, since a journal shows that the agent works.
 * May change errno.
 */
void journal_prepare(void);

/* Returns false if this process will have no journal: journal_append() only numbers the record. */
bool journal_wanted(void);

/*
 * Sets the record's sequence number and appends the record. An event that cannot be appended is
 * counted in the journal's header.
 */
void journal_append(struct record *record);

#endif
