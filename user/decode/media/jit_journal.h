/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decodes a shim's journal (uapi/jit_journal.h): the header, and the entries one by one. The
 * process writes to its journal at any time, so the caller passes a copy. Its contents are
 * untrusted.
 */
#ifndef JITBPF_DECODE_MEDIA_JIT_JOURNAL_H
#define JITBPF_DECODE_MEDIA_JIT_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "uapi/jit_journal.h"

#define JIT_JOURNAL_BYTES_MAX ((uint64_t)JITBPF_JOURNAL_BYTES_MAX) /* of a whole journal */

/*
 * Decode the header of a journal whose file has file_bytes. Checks that the entries are inside the
 * file and that the values are consistent; generation may be odd. Returns 0, -EBADMSG, or -ENOTSUP
 * (another version); on failure *ret is unchanged.
 */
int jit_journal_header_decode(const struct jitbpf_journal_header *bytes, uint64_t file_bytes,
			      struct jitbpf_journal_header *ret);

/* An entry; data is borrowed. */
struct jit_journal_entry {
	bool committed; /* if false, the entry is incomplete, and the other members are not set */
	struct jitbpf_jit_header header;
	const void *data; /* the event as one part: header.size_bytes, the header included */
};

/*
 * Decode the next entry. Returns 1 with *ret set and the cursor behind the entry; 0 if the bytes
 * end inside the entry, with the cursor unchanged; or, if the rest of the journal cannot be
 * decoded, -EBADMSG (not an entry) or -ENOTSUP (an entry of another version).
 */
int jit_journal_next(struct cursor *bytes, struct jit_journal_entry *ret);

#endif
