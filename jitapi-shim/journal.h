/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The journal of this process (uapi/jit_journal.h), for a profiler that comes
 * late or loses records. It is made with the first event, and again with the first
 * event of a forked child. Where the system refuses it there is none, and events
 * go to the probe alone.
 *
 * All functions may be called on any thread, in a signal handler, and before the
 * constructors have run.
 */
#ifndef JITBPF_SHIM_JOURNAL_H
#define JITBPF_SHIM_JOURNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "jitapi-shim/journal_lock.h"
#include "jitapi-shim/record.h"
#include "uapi/jit_journal.h"

/* What the journal remembers, in the process's own memory. All zeros: not made yet. */
struct journal {
	journal_lock lock; /* guards all but the atomics */
	_Atomic bool off;  /* there is none, nor will there be */
	struct jitbpf_journal_header *_Atomic header;
	uint64_t capacity;
	uint64_t backed_bytes; /* so many from the start have memory behind them */
	uint64_t used_bytes;
	uint32_t entry_count;
	/* Written or refused since the last compaction; so many make the next one due. */
	uint64_t since_bytes, due_bytes;
	_Atomic uint64_t left_out; /* before there was a header to count them in */
};

/* Whether journal_append() would do anything but number the record. */
bool journal_wanted(void);

/* Number the record and append it; what finds no room is counted there. May set errno. */
void journal_append(struct record *record);

#endif
