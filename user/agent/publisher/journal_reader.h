/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads one journal from where it was left, a piece at a time: a piece counts only
 * if the journal's generation was the same, and even, before and after.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_READER_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_READER_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/publisher/journal_budget.h"
#include "base/vec.h"
#include "decode/record/jit_journal.h"

struct journal_reader {
	int fd; /* owned; -1: none */
	uint64_t size_bytes;
	struct jitbpf_journal_header header; /* as it was last read */
	uint64_t offset;	/* of the entry to read next; 0: begin with the first one */
	uint64_t generation;	/* that offset is of */
	uint64_t next_sequence; /* of this generation: what comes is not below it */
};

/* Where entries go, committed ones alone, borrowed. Either returns 0 or negative errno. */
struct journal_taker {
	int (*begin)(void *context); /* from the first one on, again; may be NULL */
	int (*entry)(void *context, const struct jit_journal_entry *entry);
	void *context;
};

/* Room for one piece, kept from call to call. */
typedef VEC(uint8_t) journal_room;

/*
 * Hand over entries until about most_bytes of the journal have been gone through, or all
 * that stood there when it was called; what comes meanwhile is for another call.
 * A compaction meanwhile makes it begin anew, so that entries come again.
 * Returns 1 if there is more, 0 at the end; -EBADMSG: it makes no sense; -EBUSY: it does
 * not come to rest; -EDQUOT: a budget is used up; -ENOMEM; or the taker's error.
 */
int journal_reader_read(struct journal_reader *reader, struct journal_budget *const budgets[2],
			journal_room *room, uint64_t most_bytes, const struct journal_taker *taker);

void journal_reader_close(struct journal_reader *reader);

/* Whether an error of opening or reading a journal is its own, and not ours or the taker's. */
static inline bool journal_is_unreadable(int err)
{
	return err == -EBADMSG || err == -EBUSY || err == -EDQUOT || err == -ENOTSUP;
}

#endif
