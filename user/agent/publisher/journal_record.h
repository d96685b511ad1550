/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes the JIT record of a journal's entry (uapi/record.h). */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_RECORD_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_RECORD_H

#include <stdint.h>

#include "agent/publisher/journal_reader.h"
#include "pipeline/source.h"

/* What the records of one reading have in common, and where they go. */
struct journal_origin {
	uint32_t pid;
	uint64_t start_ns; /* the process's; 0: not known */
	uint16_t flags;	   /* beside JITBPF_JIT_FROM_JOURNAL */
	bool inherited;
	/*
	 * An event's time is put between these two. most_ns is when the journal was read,
	 * and goes on with events that came meanwhile.
	 */
	uint64_t least_ns, most_ns;
	bool beyond_is_least; /* a time that lies in the future counts as the least */
	record_taker_fn take;
	void *take_context;
};

/* Returns 0, -ENOMEM, or the taker's error. room is the record's, kept from call to call. */
int journal_record_send(struct journal_origin *origin, const struct jit_journal_entry *entry,
			journal_room *room);

#endif
