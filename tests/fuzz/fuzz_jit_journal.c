/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A shim's journal, read in pieces of sizes that the input selects: header, entries, fields. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/media/jit_event.h"
#include "decode/media/jit_journal.h"
#include "tests/fuzz/seeds.h"

SEEDS(4);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static uint64_t read_entry(const struct jitbpf_journal_unsure *unsure,
			   const struct jit_journal_entry *entry, const uint8_t *begin,
			   const uint8_t *end)
{
	const uint8_t *fields;
	struct jit_event event;
	uint64_t sum = 0;

	if (!entry->committed)
		return 0;
	require((const uint8_t *)entry->data >= begin &&
		(const uint8_t *)entry->data + entry->header.size_bytes <= end);
	fields = (const uint8_t *)entry->data + sizeof(entry->header);
	if (jit_fields_decode(&entry->header, fields,
			      entry->header.size_bytes - sizeof(entry->header), &event))
		return 0;
	seed_taken();
	for (size_t i = 0; i < event.name.size_bytes; i++)
		sum += (uint8_t)event.name.bytes[i];
	return sum + event.line_count + jitbpf_journal_is_unsure(unsure, &entry->header);
}

/* Read the entries of one piece. Returns the number of bytes read, or -EBADMSG. */
static int64_t read_piece(const struct jitbpf_journal_unsure *unsure, const uint8_t *from,
			  size_t size_bytes, volatile uint64_t *sum)
{
	uint8_t *exact = malloc(size_bytes ? size_bytes : 1);
	struct jit_journal_entry entry;
	struct cursor c;
	int64_t used;
	int more;

	require(exact);
	memcpy(exact, from, size_bytes);
	c = cursor_of(exact, size_bytes);
	while ((more = jit_journal_next(&c, &entry)) > 0)
		*sum += read_entry(unsure, &entry, exact, exact + size_bytes);
	require(more == 0 || more == -EBADMSG || more == -ENOTSUP);
	used = more < 0 ? more : (int64_t)cursor_offset(&c);
	free(exact);
	return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct jitbpf_journal_header bytes, header;
	volatile uint64_t sum = 0;
	size_t at, piece, end;

	if (size_bytes < sizeof(bytes))
		return 0;
	memcpy(&bytes, data, sizeof(bytes));
	if (jit_journal_header_decode(&bytes, size_bytes, &header))
		return 0;
	require(header.data_offset <= header.used_bytes && header.used_bytes <= size_bytes);
	at = header.data_offset;
	end = header.used_bytes;
	piece = 64 + header.pid % 4096;
	while (at < end) {
		size_t wanted = piece < end - at ? piece : end - at;
		int64_t used = read_piece(&header.unsure, data + at, wanted, &sum);

		if (used < 0 || (!used && wanted == end - at))
			break;
		at += (size_t)used;
		piece = used ? piece : 2 * piece;
	}
	return 0;
}
