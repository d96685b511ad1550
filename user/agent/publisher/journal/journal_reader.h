/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads a journal incrementally, one piece at a time. The entries of a piece are delivered only if
 * the journal's generation was even, and the same before and after reading the piece.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_READER_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_READER_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/publisher/journal/journal_budget.h"
#include "base/vec.h"
#include "decode/media/jit_journal.h"
#include "uapi/record.h"

struct journal_reader {
	int fd; /* owned; -1: none */
	uint64_t size_bytes;
	struct jitbpf_journal_header header; /* as last read */
	uint64_t offset;		     /* of the next entry; 0: begin with the first one */
	uint64_t generation;		     /* to which offset belongs */
	uint64_t next_sequence; /* the next entry of this generation has at least this number */
};

/* Receives committed entries, which are borrowed. Functions return 0 or a negative errno. */
struct journal_taker {
	int (*begin)(void *context); /* entries come again from the first one on; may be NULL */
	int (*entry)(void *context, const struct jit_journal_entry *entry);
	void *context;
};

/* A buffer for one piece, reused by later calls. */
typedef VEC(uint8_t) journal_room;

/*
 * Deliver entries until about most_bytes of the journal were read, or all entries that existed at
 * the time of the call. After a compaction, reading starts again, so entries are repeated.
 *
 * Returns 1 if there is more, 0 at the end, -EINPROGRESS (call again, a compaction is active, for
 * which one call waits 20 ms), -EBADMSG (invalid journal), -EBUSY (the compactions do
 * not end), -EDQUOT (a budget is spent), -ENOMEM, or the taker's error.
 */
int journal_reader_read(struct journal_reader *reader, struct journal_budget *const budgets[2],
			journal_room *room, uint64_t most_bytes, const struct journal_taker *taker);

/* Returns the flags of a JOURNAL record for an error of opening or reading. */
static inline uint16_t journal_unreadable_flags(int err)
{
	return JITBPF_JOURNAL_UNREADABLE | (err == -ENOTSUP ? JITBPF_JOURNAL_OTHER_VERSION : 0);
}

void journal_reader_close(struct journal_reader *reader);

/* Returns true if an error of opening or reading is the journal's, not jitbpf's or the taker's. */
static inline bool journal_is_unreadable(int err)
{
	return err == -EBADMSG || err == -EBUSY || err == -EDQUOT || err == -ENOTSUP;
}

#endif
