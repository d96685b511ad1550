/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Limits the rate of searches for files, per user of the processes. A search takes time of the
 * event loop, and any user can map tens of thousands of files a second.
 */
#ifndef JITBPF_AGENT_FILES_SEARCH_LIMITS_H
#define JITBPF_AGENT_FILES_SEARCH_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define SEARCHES_AT_ONCE    4096
#define SEARCHES_A_SECOND   500
#define SEARCHING_USERS_MAX 1024 /* all further users count as one */

struct search_limit {
	uint32_t uid;
	uint64_t left_ns; /* a search costs 1 s / SEARCHES_A_SECOND */
	uint64_t now_ns;  /* of the last search */
};

/* Empty if zero-initialized. */
struct search_limits {
	VEC(struct search_limit) users;
};

/* Returns true if a file may be searched for a process of a user at now_ns, CLOCK_MONOTONIC. */
bool search_limits_allow(struct search_limits *limits, uint32_t uid, uint64_t now_ns);

static inline void search_limits_deinit(struct search_limits *limits)
{
	vec_deinit(&limits->users);
}

#endif
