/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds out, for `list`, whether the functions of a process's runtime can be shown: by the code and
 * with the rights of a recording, in a child process, which decodes what is in memory of others. A
 * child that does not answer in time is replaced.
 */
#ifndef JITBPF_AGENT_READERS_FUNCTIONS_CHECK_H
#define JITBPF_AGENT_READERS_FUNCTIONS_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/roles/broker.h"

#define FUNCTIONS_CHECK_MS  5000  /* limit of an answer */
#define FUNCTIONS_CHECKS_MS 15000 /* limit of all answers; afterwards, nothing is checked */

struct functions_check {
	const struct broker *broker; /* borrowed; it starts openers and readers */
	int socket;		     /* -1: there is no child */
	pid_t pid;
	uint64_t left_ns; /* of FUNCTIONS_CHECKS_MS */
};

/* Starts no child yet. */
struct functions_check functions_check_of(const struct broker *broker);
void functions_check_end(struct functions_check *check);

/*
 * Check a process. Returns 0 with *ret, the number of its runtime that has a reader, with a status
 * (engine_runtime_number()), or 0: it has none. Returns -ETIMEDOUT or another negative errno if
 * that was not found out. Call it while this process has one thread.
 */
int functions_check_process(struct functions_check *check, uint32_t pid, uint64_t *ret);

#endif
