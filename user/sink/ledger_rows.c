/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/ledger_rows.h"

#include <string.h>

uint64_t ledger_process_taken(const struct ledger_process *process)
{
	return sample_fates_taken(&process->samples);
}

static int compare(const void *a_, const void *b_)
{
	const struct ledger_process *a = *(const struct ledger_process *const *)a_;
	const struct ledger_process *b = *(const struct ledger_process *const *)b_;
	uint64_t taken_a = ledger_process_taken(a), taken_b = ledger_process_taken(b);

	if (taken_a != taken_b)
		return taken_a < taken_b ? 1 : -1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a < b ? -1 : a > b;
}

bool ledger_process_counts(const struct ledger_process *process)
{
	static const struct jit_counts none;

	return ledger_process_taken(process) || memcmp(&process->jit, &none, sizeof(none)) != 0;
}

int ledger_rank(const struct ledger *ledger, struct ledger_ranking *ranking)
{
	for (size_t i = 0; i < ledger->processes.size; i++) {
		const struct ledger_process *process = &ledger->processes.data[i];

		if (ledger_process_counts(process) && vec_push(&ranking->processes, process))
			return -ENOMEM;
	}
	if (ranking->processes.size)
		qsort(ranking->processes.data, ranking->processes.size,
		      sizeof(*ranking->processes.data), compare);
	return 0;
}

void ledger_ranking_deinit(struct ledger_ranking *ranking)
{
	vec_deinit(&ranking->processes);
}
