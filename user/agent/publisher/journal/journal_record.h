/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Emits an entry of a journal as a JIT record (uapi/record.h). Tids of threads that an event names
 * become those of jitbpf's pid namespace, or 0.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_RECORD_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_RECORD_H

#include <stdint.h>

#include "agent/publisher/journal/journal_reader.h"
#include "agent/publisher/journal/journal_threads.h"
#include "pipeline/source.h"

/* Values that all records of one reading share, and their receiver. */
struct journal_origin {
	uint32_t pid;
	uint64_t start_ns; /* start of the process; 0: not known */
	uint16_t flags;	   /* in addition to JITBPF_JIT_FROM_JOURNAL */
	bool inherited;
	/*
	 * Event times are clamped to this interval. most_ns is the time of reading, and
	 * advances with events that were appended during the reading.
	 */
	uint64_t least_ns, most_ns;
	bool beyond_is_least;		 /* a time after most_ns becomes least_ns, not most_ns */
	struct journal_threads *threads; /* borrowed */
	record_taker_fn take;
	void *take_context;
};

/* Returns the time that an entry's event gets; most_ns may advance. */
uint64_t journal_record_time(struct journal_origin *origin, uint64_t event_ns);

/* Emit an entry. room is a buffer for the record. Returns 0, -ENOMEM, or the taker's error. */
int journal_record_send(struct journal_origin *origin, const struct jit_journal_entry *entry,
			journal_room *room);

#endif
