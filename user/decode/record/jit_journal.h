/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads a shim's journal (uapi/jit_journal.h): its header, and its entries one by
 * one. The bytes are the process's, which writes to them meanwhile: what is given
 * here is a copy that does not change, and nothing in it is believed.
 */
#ifndef JITBPF_DECODE_RECORD_JIT_JOURNAL_H
#define JITBPF_DECODE_RECORD_JIT_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "uapi/jit_journal.h"

#define JIT_JOURNAL_BYTES_MAX (1ull << 30) /* of a whole journal */
#define JIT_JOURNAL_ENTRY_MAX (4u << 20)   /* of one entry; the shim's are below 2 MB */

/*
 * The header of a journal whose file has file_bytes. Returns 0 where the entries
 * lie inside the file and the numbers agree with each other (generation may be odd);
 * else -EBADMSG with *ret unchanged; -ENOTSUP for another version.
 */
int jit_journal_header_decode(const struct jitbpf_journal_header *bytes, uint64_t file_bytes,
			      struct jitbpf_journal_header *ret);

/* Borrows the bytes. */
struct jit_journal_entry {
	bool committed; /* else it was never finished, and the rest is not set */
	struct jitbpf_jit_header header;
	const void *data; /* the event as one part: header.size_bytes, the header included */
};

/*
 * Take the next entry. Returns 1 with *ret set; 0 where the bytes end before the
 * entry does (nothing is taken: more of the journal is wanted); or -EBADMSG: this is
 * no entry, and nobody knows where the next one begins.
 */
int jit_journal_next(struct cursor *bytes, struct jit_journal_entry *ret);

#endif
