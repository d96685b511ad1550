/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/sampled_pids.h"

#include <stdlib.h>
#include <string.h>

void sampled_pids_deinit(struct sampled_pids *sampled)
{
	vec_deinit(&sampled->pids);
}

int sampled_pids_add(struct sampled_pids *sampled, uint32_t pid)
{
	size_t count = sampled->pids.size;

	if (count > sampled->in_round && sampled->pids.data[count - 1] == pid)
		return 0;
	return vec_push(&sampled->pids, pid);
}

void sampled_pids_begin(struct sampled_pids *sampled)
{
	sampled->in_round = sampled->pids.size;
	sampled->sorted = false;
}

static int compare_pids(const void *a_, const void *b_)
{
	uint32_t a = *(const uint32_t *)a_, b = *(const uint32_t *)b_;

	return a < b ? -1 : a > b;
}

bool sampled_pids_has(struct sampled_pids *sampled, uint32_t pid)
{
	if (!sampled->in_round)
		return false;
	if (!sampled->sorted)
		qsort(sampled->pids.data, sampled->in_round, sizeof(pid), compare_pids);
	sampled->sorted = true;
	return bsearch(&pid, sampled->pids.data, sampled->in_round, sizeof(pid), compare_pids);
}

void sampled_pids_end(struct sampled_pids *sampled)
{
	size_t rest = sampled->pids.size - sampled->in_round;

	if (rest)
		memmove(sampled->pids.data, sampled->pids.data + sampled->in_round,
			rest * sizeof(*sampled->pids.data));
	sampled->pids.size = rest;
	sampled->in_round = 0;
}
