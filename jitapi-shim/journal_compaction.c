/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/journal_compaction.h"

#include <errno.h>
#include <string.h>

#include "jitapi-shim/journal.h"
#include "jitapi-shim/journal_losses.h"
#include "jitapi-shim/log_liveness.h"
#include "jitapi-shim/process_state.h"
#include "jitapi-shim/record.h"

static void show_progress(void)
{
	journal_lock_progress(&process_journal()->lock);
}

/* Closes the gaps in the log. Readers discard entries that they read at an odd generation. */
static void drop_entries(struct journal *journal, const bool *stays)
{
	struct jitbpf_journal_header *header = journal->header;
	char *from = (char *)header + header->data_offset, *to = from;
	uint32_t kept = 0, loads = 0;

	__atomic_store_n(&header->generation, header->generation + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	for (uint32_t i = 0; i < journal->entry_count; i++) {
		const struct jitbpf_journal_entry *entry = (void *)from;
		uint32_t size_bytes = entry->size_bytes;

		if (i % 4096 == 0)
			show_progress();
		if (stays[i]) {
			loads += record_can_end(&entry->header);
			memmove(to, from, size_bytes);
			to += size_bytes;
			kept++;
		}
		from += size_bytes;
	}
	journal->entry_count = kept;
	journal->used_bytes = (uint64_t)(to - (char *)header);
	__atomic_store_n(&header->used_bytes, journal->used_bytes, __ATOMIC_RELEASE);
	header->compactions++;
	journal->load_count = loads;
	journal->end_count = 0;
	__atomic_store_n(&header->generation, header->generation + 1, __ATOMIC_RELEASE);
}

int journal_compact(struct journal *journal, void *scratch, uint64_t scratch_bytes)
{
	uint64_t size_bytes = log_liveness_bytes(journal->entry_count);
	const char *log = (const char *)journal->header + journal->header->data_offset;
	struct jitbpf_journal_unsure unsure = journal->header->unsure;

	if (size_bytes > scratch_bytes)
		return -ENOMEM;
	drop_entries(journal, log_liveness_judge(log, journal->entry_count, &unsure, scratch,
						 show_progress));
	journal_losses_applied(journal);
	return 0;
}
