/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/journal/journal_reader.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#define PIECE_BYTES	 (256u << 10)
#define WAIT_NS		 500000u /* one wait for a compaction to end */
#define WAITS_MAX	 40	 /* limit in one call; the event loop waits */
#define HEADER_TRIES_MAX 4
#define RESTARTS_MAX	 64 /* limit in one call */

static int spend(struct journal_budget *const budgets[2], size_t which, uint64_t amount)
{
	for (int i = 0; i < 2; i++) {
		struct journal_allowance *allowance =
			which ? &budgets[i]->wait_ns : &budgets[i]->bytes;

		if (!journal_allowance_take(allowance, amount))
			return -EDQUOT;
	}
	return 0;
}

/* A header that a compaction changes during the read may be invalid; then read it again. */
static int read_header(struct journal_reader *reader)
{
	struct jitbpf_journal_header bytes;
	int err = -EBADMSG;

	for (int i = 0; i < HEADER_TRIES_MAX && err == -EBADMSG; i++) {
		if (pread(reader->fd, &bytes, sizeof(bytes), 0) != sizeof(bytes))
			return -EBADMSG;
		err = jit_journal_header_decode(&bytes, reader->size_bytes, &reader->header);
	}
	return err;
}

/* Read the header while no compaction is active. */
static int read_header_at_rest(struct journal_reader *reader,
			       struct journal_budget *const budgets[2])
{
	const struct timespec wait = {.tv_nsec = WAIT_NS};
	int err;

	for (unsigned waits = 0; !(err = read_header(reader)) && reader->header.generation % 2;
	     waits++) {
		if (waits == WAITS_MAX)
			return -EINPROGRESS;
		if (spend(budgets, 1, WAIT_NS))
			return -EBUSY;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, NULL);
	}
	return err;
}

static int begin_anew(struct journal_reader *reader, const struct journal_taker *taker)
{
	reader->offset = reader->header.data_offset;
	reader->generation = reader->header.generation;
	reader->next_sequence = 0;
	return taker->begin ? taker->begin(taker->context) : 0;
}

/*
 * Deliver the entries of a piece that did not change. Sets *ret_used to their size. If the taker
 * fails, the reader stays at the start of the piece.
 */
static int take_entries(struct journal_reader *reader, const void *bytes, size_t size_bytes,
			const struct journal_taker *taker, size_t *ret_used)
{
	struct cursor c = cursor_of(bytes, size_bytes);
	uint64_t next_sequence = reader->next_sequence;
	struct jit_journal_entry entry;
	int more, err;

	while ((more = jit_journal_next(&c, &entry)) > 0) {
		if (!entry.committed)
			continue;
		if (entry.header.sequence < next_sequence || entry.header.sequence == UINT64_MAX)
			return -EBADMSG;
		next_sequence = entry.header.sequence + 1;
		err = taker->entry(taker->context, &entry);
		if (err)
			return err;
	}
	reader->next_sequence = next_sequence;
	*ret_used = cursor_offset(&c);
	return more;
}

/* Read the next piece. Returns 1, 0 if a compaction moved entries meanwhile, or an error. */
static int read_piece(struct journal_reader *reader, struct journal_budget *const budgets[2],
		      journal_room *room, size_t wanted)
{
	int err = spend(budgets, 0, wanted);

	if (!err && vec_reserve(room, wanted))
		err = -ENOMEM;
	if (err)
		return err;
	if (pread(reader->fd, room->data, wanted, (off_t)reader->offset) != (ssize_t)wanted)
		return -EBADMSG;
	room->size = wanted;
	err = read_header(reader);
	return err ?: reader->header.generation == reader->generation;
}

int journal_reader_read(struct journal_reader *reader, struct journal_budget *const budgets[2],
			journal_room *room, uint64_t most_bytes, const struct journal_taker *taker)
{
	size_t piece_bytes = PIECE_BYTES, restarts = 0, used;
	uint64_t done_bytes = 0, end = 0;
	int err = 0;

	/* Entries that were read stay valid if a compaction moves them now. */
	while (!end || reader->offset < end) {
		uint64_t left;

		if (done_bytes >= most_bytes)
			return 1;
		err = read_header_at_rest(reader, budgets);
		if (!err && (!reader->offset || reader->generation != reader->header.generation)) {
			err = restarts++ < RESTARTS_MAX ? begin_anew(reader, taker) : -EBUSY;
			end = 0;
		}
		if (err)
			return err;
		if (!end)
			end = reader->header.used_bytes; /* fixed here: the journal may grow as fast
							    as it is read */
		if (reader->header.used_bytes < end || end < reader->offset) {
			/* used_bytes is lower only if a compaction began during the read. */
			err = read_header(reader);
			if (err || reader->header.generation == reader->generation)
				return err ?: -EBADMSG;
			continue;
		}
		left = end - reader->offset;
		if (!left)
			return 0;
		piece_bytes = left < piece_bytes ? left : piece_bytes;
		err = read_piece(reader, budgets, room, piece_bytes);
		if (err < 0)
			return err;
		if (!err)
			continue;
		err = take_entries(reader, room->data, piece_bytes, taker, &used);
		if (err)
			return err;
		if (!used && (piece_bytes == left || piece_bytes > JITBPF_JOURNAL_ENTRY_MAX))
			return -EBADMSG; /* an entry runs past the end */
		reader->offset += used;
		done_bytes += used;
		piece_bytes = used ? PIECE_BYTES : 4 * (uint64_t)piece_bytes;
	}
	return 0;
}

void journal_reader_close(struct journal_reader *reader)
{
	if (reader->fd >= 0)
		close(reader->fd);
	*reader = (struct journal_reader){.fd = -1};
}
