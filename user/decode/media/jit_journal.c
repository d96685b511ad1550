/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/media/jit_journal.h"

#include <errno.h>
#include <string.h>

#include "decode/media/jit_event.h"

#define ENTRY_HEAD_BYTES offsetof(struct jitbpf_journal_entry, header)

int jit_journal_header_decode(const struct jitbpf_journal_header *header, uint64_t file_bytes,
			      struct jitbpf_journal_header *ret)
{
	if (memcmp(header->magic, JITBPF_JOURNAL_MAGIC, sizeof(header->magic)))
		return -EBADMSG;
	if (header->version != JITBPF_JOURNAL_VERSION)
		return -ENOTSUP;
	if (header->data_offset < sizeof(*header) || header->data_offset % 8 ||
	    header->used_bytes < header->data_offset || header->used_bytes % 8 ||
	    header->used_bytes > header->capacity || header->capacity > file_bytes ||
	    file_bytes > JIT_JOURNAL_BYTES_MAX)
		return -EBADMSG;
	*ret = *header;
	return 0;
}

int jit_journal_next(struct cursor *bytes, struct jit_journal_entry *ret)
{
	struct cursor c = *bytes, entry_bytes;
	struct jit_journal_entry entry = {0};
	uint32_t size_bytes, commit;
	const void *whole;
	int err;

	if (cursor_read(&c, &size_bytes, sizeof(size_bytes)) ||
	    cursor_read(&c, &commit, sizeof(commit)))
		return 0;
	if (size_bytes < sizeof(struct jitbpf_journal_entry) || size_bytes % 8 ||
	    size_bytes > JITBPF_JOURNAL_ENTRY_MAX)
		return -EBADMSG;
	if (cursor_take(bytes, size_bytes, &whole))
		return 0;
	entry_bytes =
		cursor_of((const uint8_t *)whole + ENTRY_HEAD_BYTES, size_bytes - ENTRY_HEAD_BYTES);
	entry.committed = commit == JITBPF_JOURNAL_COMMITTED;
	if (entry.committed) {
		entry.data = entry_bytes.at;
		err = jit_part_decode(entry.data, cursor_left(&entry_bytes), &entry.header);
		if (err || entry.header.part_count != 1)
			return err == -ENOTSUP ? err : -EBADMSG;
	}
	*ret = entry;
	return 1;
}
