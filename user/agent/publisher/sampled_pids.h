/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processes that were sampled, for a round that can stay open: samples that arrive meanwhile
 * belong to the next round.
 */
#ifndef JITBPF_AGENT_PUBLISHER_SAMPLED_PIDS_H
#define JITBPF_AGENT_PUBLISHER_SAMPLED_PIDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct sampled_pids {
	VEC(uint32_t) pids; /* those of the open round, then those of the next one */
	size_t in_round;
	bool sorted; /* those of the open round are ascending */
};

void sampled_pids_deinit(struct sampled_pids *sampled); /* zero-initialized is allowed */

/* A process was sampled. Returns 0 or -ENOMEM. */
int sampled_pids_add(struct sampled_pids *sampled, uint32_t pid);

/* Begin a round with the processes that were sampled so far. */
void sampled_pids_begin(struct sampled_pids *sampled);

/* Returns true if a process was sampled before the round. Sorts at the first call of a round. */
bool sampled_pids_has(struct sampled_pids *sampled, uint32_t pid);

/* End the round: its processes are forgotten. */
void sampled_pids_end(struct sampled_pids *sampled);

#endif
