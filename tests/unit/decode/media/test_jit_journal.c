/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/media/jit_journal.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/made_journal.h"

CASE(test_header)
{
	struct jitbpf_journal_header good = made_journal_header(1 << 20), ret = {0}, bad;

	assert_int_equal(jit_journal_header_decode(&good, 1 << 20, &ret), 0);
	assert_int_equal(ret.capacity, 1 << 20);
	ret = (struct jitbpf_journal_header){0};
#define BAD(error, change)                                                                         \
	bad = good;                                                                                \
	change;                                                                                    \
	assert_int_equal(jit_journal_header_decode(&bad, 1 << 20, &ret), error)
	BAD(-EBADMSG, bad.magic[7] = 0);
	BAD(-ENOTSUP, bad.version = JITBPF_JOURNAL_VERSION - 1);
	BAD(-EBADMSG, bad.data_offset = 88);
	BAD(-EBADMSG, bad.data_offset = 4097);
	BAD(-EBADMSG, bad.data_offset = UINT32_MAX - 7);
	BAD(-EBADMSG, bad.used_bytes = 4088);
	BAD(-EBADMSG, bad.used_bytes = 4100);
	BAD(-EBADMSG, bad.used_bytes = bad.capacity + 8);
	BAD(-EBADMSG, bad.used_bytes = UINT64_MAX - 7);
	BAD(-EBADMSG, bad.capacity = (1 << 20) + 1);
	BAD(-EBADMSG, bad.capacity = UINT64_MAX);
	good.capacity = JIT_JOURNAL_BYTES_MAX + 4096;
	assert_int_equal(jit_journal_header_decode(&good, good.capacity, &ret), -EBADMSG);
	assert_int_equal(ret.capacity, 0);
}

CASE(test_entries)
{
	struct made_journal made = {0};
	struct jit_journal_entry entry;
	struct cursor c;

	made_journal_add(&made, 5, 100, "one", true);
	made_journal_add(&made, 6, 101, "not finished", false);
	made_journal_add(&made, 7, 102, "a longer name than these", true);
	c = cursor_of(made.bytes, made.size_bytes);
	assert_int_equal(jit_journal_next(&c, &entry), 1);
	assert_true(entry.committed && entry.header.sequence == 5);
	assert_memory_equal((const char *)entry.data + entry.header.size_bytes - 3, "one", 3);
	assert_int_equal(jit_journal_next(&c, &entry), 1);
	assert_false(entry.committed);
	assert_int_equal(jit_journal_next(&c, &entry), 1);
	assert_int_equal(entry.header.sequence, 7);
	assert_int_equal(jit_journal_next(&c, &entry), 0);
	assert_int_equal(cursor_left(&c), 0);
}

/* A truncated journal yields no entry, and is not read beyond its end. */
CASE(test_cut)
{
	struct made_journal made = {0};
	struct jit_journal_entry entry;

	made_journal_add(&made, 5, 100, "one", true);
	for (size_t size = 0; size < made.size_bytes; size++) {
		uint8_t *exact = malloc(size ? size : 1);
		struct cursor c;

		assert_non_null(exact);
		memcpy(exact, made.bytes, size);
		c = cursor_of(exact, size);
		assert_int_equal(jit_journal_next(&c, &entry), 0);
		assert_int_equal(cursor_left(&c), size);
		free(exact);
	}
}

CASE(test_lies)
{
	struct made_journal made = {0};
	struct jitbpf_journal_entry *head = (void *)made.bytes, good;
	struct jit_journal_entry entry;
	struct cursor c;

	made_journal_add(&made, 5, 100, "one", true);
	good = *head;
#define LIE_OF(error, change)                                                                      \
	*head = good;                                                                              \
	change;                                                                                    \
	c = cursor_of(made.bytes, sizeof(made.bytes));                                             \
	assert_int_equal(jit_journal_next(&c, &entry), error)
#define LIE(change) LIE_OF(-EBADMSG, change)
	LIE(head->size_bytes = 0);
	LIE(head->size_bytes = 72);
	LIE(head->size_bytes += 4);
	LIE(head->size_bytes = UINT32_MAX - 7);
	LIE(head->size_bytes = JITBPF_JOURNAL_ENTRY_MAX + 8);
	LIE(head->header.size_bytes = 71);
	LIE(head->header.size_bytes = head->size_bytes - 7);
	LIE(head->header.size_bytes = UINT32_MAX);
	LIE(head->header.part_count = 2);
	LIE(head->header.part = 1);
	LIE_OF(-ENOTSUP, head->header.version = 9);
}
