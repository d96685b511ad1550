/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The samples of a profile by node and thread. The profile itself counts by process only. */
#ifndef JITBPF_PROFILE_THREAD_COUNTS_H
#define JITBPF_PROFILE_THREAD_COUNTS_H

#include <stdint.h>

#include "base/item_index.h"
#include "base/room.h"
#include "base/vec.h"

/*
 * A thread with a name and a cgroup. After a rename, or a move to another cgroup, it gets another
 * entry. Names are numbers in the profile's string pool; see sink/cgroup_text.h.
 */
struct sampled_thread {
	uint32_t pid, tid;
	uint32_t comm;
	uint32_t container; /* 0: none */
	uint32_t unit;	    /* or path of a cgroup; 0: the cgroup is not known */
};

struct thread_count {
	uint32_t node;	 /* of the profile */
	uint32_t thread; /* index into threads */
	uint64_t samples;
};

_Static_assert(sizeof(struct thread_count) == 16, "there may be as many as samples");

/* Zero-initialized is empty. Threads and counts are in the order of their first samples. */
struct thread_counts {
	VEC(struct sampled_thread) threads;
	VEC(struct thread_count) counts;
	struct item_index thread_index, count_index;
	struct room room; /* SAMPLED_THREAD_BYTES for a new thread, THREAD_COUNT_BYTES for a new
			     count */
};

#define SAMPLED_THREAD_BYTES (sizeof(struct sampled_thread) + ITEM_INDEX_BYTES)
#define THREAD_COUNT_BYTES   (sizeof(struct thread_count) + ITEM_INDEX_BYTES)

/* Find or add a thread. Returns 0 and sets *ret to its index, or -ENOMEM or -EDQUOT (no room). */
int thread_counts_thread(struct thread_counts *counts, const struct sampled_thread *thread,
			 uint32_t *ret);

/*
 * Count samples of a thread at a node. Returns 0 and sets *ret to the index of
 * the count, or -ENOMEM or -EDQUOT (no room).
 */
int thread_counts_add(struct thread_counts *counts, uint32_t node, uint32_t thread,
		      uint64_t samples, uint32_t *ret);

/* Free what only finds and adds threads and counts. Then these can only be read. */
void thread_counts_close(struct thread_counts *counts);

void thread_counts_deinit(struct thread_counts *counts);

#endif
