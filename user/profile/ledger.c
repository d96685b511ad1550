/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/ledger.h"

#include <errno.h>

uint64_t ledger_taken(const struct ledger *ledger)
{
	return sample_fates_taken(&ledger->samples);
}

int ledger_add(struct ledger *ledger, const struct ledger_process *row, uint32_t round)
{
	size_t blocks = ledger->processes.size / LEDGER_BLOCK_ROWS + 1;

	if (vec_reserve(&ledger->processes, ledger->processes.size + 1) ||
	    vec_reserve(&ledger->changed_blocks, blocks))
		return -ENOMEM;
	ledger->processes.data[ledger->processes.size++] = *row;
	ledger->changed_blocks.size = blocks;
	ledger_touch(ledger, &ledger->processes.data[ledger->processes.size - 1], round);
	return 0;
}

void jit_counts_add(struct jit_counts *counts, const struct jit_counts *more)
{
	_Static_assert(sizeof(*more) % sizeof(uint64_t) == 0, "nothing but counts");

	for (size_t i = 0; i < sizeof(*more) / sizeof(uint64_t); i++)
		((uint64_t *)counts)[i] += ((const uint64_t *)more)[i];
}

void ledger_deinit(struct ledger *ledger)
{
	vec_deinit(&ledger->processes);
	vec_deinit(&ledger->changed_blocks);
}
