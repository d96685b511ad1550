/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/journal_compaction.h"

#include <string.h>

#include "jitapi-shim/journal.h"
#include "jitapi-shim/log_liveness.h"

/* Move together what stays. Returns where it ends. */
static char *close_gaps(char *log, uint32_t count, const bool *stays, uint32_t *ret_count)
{
	char *from = log, *to = log;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t size_bytes = ((struct jitbpf_journal_entry *)from)->size_bytes;

		if (stays[i]) {
			if (to != from)
				memmove(to, from, size_bytes);
			to += size_bytes;
			kept++;
		}
		from += size_bytes;
	}
	*ret_count = kept;
	return to;
}

int journal_compact(struct journal *journal)
{
	struct jitbpf_journal_header *header = journal->header;
	char *log = (char *)header + header->data_offset;
	struct scratch scratch;
	uint64_t generation = header->generation;
	const bool *stays;
	int err = scratch_init(&scratch, log_liveness_bytes(journal->entry_count));

	if (err)
		return err;
	stays = log_liveness_judge(log, journal->entry_count, &scratch);

	__atomic_store_n(&header->generation, generation + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	journal->used_bytes =
		(uint64_t)(close_gaps(log, journal->entry_count, stays, &journal->entry_count) -
			   (char *)header);
	__atomic_store_n(&header->used_bytes, journal->used_bytes, __ATOMIC_RELEASE);
	header->compactions++;
	__atomic_store_n(&header->generation, generation + 2, __ATOMIC_RELEASE);
	scratch_deinit(&scratch);
	return 0;
}
