/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/thread_counts.h"

#include <errno.h>

#include "base/hash.h"
#include "base/intern.h"

static bool equal_thread(const void *items, uint32_t item, const void *key_)
{
	const struct sampled_thread *thread = (const struct sampled_thread *)items + item;
	const struct sampled_thread *key = key_;

	return thread->pid == key->pid && thread->tid == key->tid && thread->comm == key->comm &&
	       thread->container == key->container && thread->unit == key->unit;
}

static uint64_t hash_of_thread(const void *threads, uint32_t number)
{
	const struct sampled_thread *thread = (const struct sampled_thread *)threads + number;
	uint64_t cgroup = (uint64_t)thread->container << 32 | thread->unit;

	return hash_mix((uint64_t)thread->pid << 32 | thread->tid, thread->comm ^ cgroup);
}

int thread_counts_thread(struct thread_counts *counts, const struct sampled_thread *thread,
			 uint32_t *ret)
{
	int err = vec_intern_item_in(&counts->room, SAMPLED_THREAD_BYTES, &counts->threads,
				     &counts->thread_index, hash_of_thread(thread, 0),
				     hash_of_thread, equal_thread, thread, ret);

	return err < 0 ? err : 0;
}

static bool equal_count(const void *items, uint32_t item, const void *key_)
{
	const struct thread_count *count = (const struct thread_count *)items + item;
	const struct thread_count *key = key_;

	return count->node == key->node && count->thread == key->thread;
}

static uint64_t hash_of_count(const void *counts, uint32_t number)
{
	const struct thread_count *count = (const struct thread_count *)counts + number;

	return hash_mix(count->node, count->thread);
}

int thread_counts_add(struct thread_counts *counts, uint32_t node, uint32_t thread,
		      uint64_t samples, uint32_t *ret)
{
	const struct thread_count key = {.node = node, .thread = thread};
	uint32_t count;
	int err = vec_intern_item_in(&counts->room, THREAD_COUNT_BYTES, &counts->counts,
				     &counts->count_index, hash_of_count(&key, 0), hash_of_count,
				     equal_count, &key, &count);

	if (err < 0)
		return err;
	counts->counts.data[count].samples += samples;
	*ret = count;
	return 0;
}

void thread_counts_close(struct thread_counts *counts)
{
	item_index_deinit(&counts->thread_index);
	item_index_deinit(&counts->count_index);
}

void thread_counts_deinit(struct thread_counts *counts)
{
	thread_counts_close(counts);
	vec_deinit(&counts->threads);
	vec_deinit(&counts->counts);
}
