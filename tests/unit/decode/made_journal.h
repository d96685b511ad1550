/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds a shim's journal in memory. */
#ifndef JITBPF_TESTS_UNIT_DECODE_MADE_JOURNAL_H
#define JITBPF_TESTS_UNIT_DECODE_MADE_JOURNAL_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "uapi/jit_journal.h"

/* Entries under construction. */
struct made_journal {
	uint8_t bytes[8192] __attribute__((aligned(8)));
	size_t size_bytes;
};

static inline struct jitbpf_journal_header made_journal_header(uint64_t capacity)
{
	struct jitbpf_journal_header header = {
		.version = JITBPF_JOURNAL_VERSION,
		.data_offset = 4096,
		.capacity = capacity,
		.used_bytes = 4096,
	};

	memcpy(header.magic, JITBPF_JOURNAL_MAGIC, sizeof(header.magic));
	return header;
}

/* Add a load of 0x100 bytes at 0x10000 * (sequence + 1). */
static inline void made_journal_add(struct made_journal *made, uint64_t sequence, uint64_t time_ns,
				    const char *name, bool committed)
{
	struct jitbpf_jit_field field = {
		.type = JITBPF_JIT_NAME,
		.size_bytes = (uint32_t)strlen(name),
	};
	struct jitbpf_journal_entry entry = {
		.commit = committed ? JITBPF_JOURNAL_COMMITTED : 0,
		.header =
			{
				.size_bytes = (uint32_t)(sizeof(entry.header) + sizeof(field) +
							 strlen(name)),
				.version = JITBPF_JIT_VERSION,
				.event = 13,
				.sequence = sequence,
				.time_ns = time_ns,
				.part_count = 1,
				.method_id = (uint32_t)sequence + 1,
				.address = 0x10000 * (sequence + 1),
				.code_bytes = 0x100,
			},
	};
	uint8_t *to = made->bytes + made->size_bytes;

	entry.size_bytes = (uint32_t)((8 + entry.header.size_bytes + 7) & ~7ull);
	assert(made->size_bytes + entry.size_bytes <= sizeof(made->bytes));
	memcpy(to, &entry, sizeof(entry));
	memcpy(to + sizeof(entry), &field, sizeof(field));
	memcpy(to + sizeof(entry) + sizeof(field), name, strlen(name));
	made->size_bytes += entry.size_bytes;
}

#endif
