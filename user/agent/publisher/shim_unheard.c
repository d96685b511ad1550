/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/shim_unheard.h"

#include <stdlib.h>

#include "base/hash.h"

static uint64_t hash_of(uint32_t pid)
{
	return hash_mix(pid, 1);
}

static bool has_pid(const void *items, uint32_t item, const void *pid)
{
	return ((const struct shim_mapper *)items)[item].pid == *(const uint32_t *)pid;
}

static struct shim_mapper *find(const struct shim_unheard *unheard, uint32_t pid)
{
	uint32_t item =
		index_map_find(&unheard->index, hash_of(pid), has_pid, unheard->mappers.data, &pid);

	return item == INDEX_MAP_NONE ? NULL : &unheard->mappers.data[item];
}

int shim_unheard_map(struct shim_unheard *unheard, const struct shim_mapper *mapper)
{
	struct shim_mapper *known = find(unheard, mapper->pid);
	uint32_t number = (uint32_t)unheard->mappers.size;

	if (known) {
		known->wanted |= mapper->wanted;
		known->pending = mapper->pending ?: known->pending;
		if (known->attached_ns < mapper->attached_ns)
			known->attached_ns = mapper->attached_ns;
		if (known->from_ns > mapper->from_ns)
			known->from_ns = mapper->from_ns;
		return 0;
	}
	if (vec_reserve(&unheard->mappers, number + 1) ||
	    index_map_insert(&unheard->index, hash_of(mapper->pid), number))
		return -ENOMEM;
	return vec_push(&unheard->mappers, *mapper);
}

void shim_unheard_attached(struct shim_unheard *unheard, uint32_t pending, uint64_t attached_ns)
{
	vec_for_each (mapper, &unheard->mappers) {
		if (mapper->pending != pending)
			continue;
		mapper->pending = 0;
		mapper->wanted &= attached_ns || mapper->attached_ns;
		if (mapper->attached_ns < attached_ns)
			mapper->attached_ns = attached_ns;
	}
}

void shim_unheard_read_early(struct shim_unheard *unheard)
{
	vec_for_each (mapper, &unheard->mappers)
		mapper->wanted |= mapper->pending != 0;
}

int shim_unheard_fork(struct shim_unheard *unheard, const struct jitbpf_task *fork)
{
	if (fork->pid == fork->parent_pid)
		return 0;
	return vec_push(&unheard->forks,
			((struct shim_fork){fork->pid, fork->parent_pid, fork->h.time_ns}));
}

static int compare_forks(const void *a, const void *b)
{
	const struct shim_fork *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

void shim_unheard_unread(struct shim_unheard *unheard, uint32_t pid)
{
	uint32_t item =
		index_map_find(&unheard->index, hash_of(pid), has_pid, unheard->mappers.data, &pid);

	if (item != INDEX_MAP_NONE)
		unheard->mappers.data[item].unread = true;
}

static int add_children(struct shim_unheard *unheard)
{
	if (!unheard->mappers.size || !unheard->forks.size)
		return 0;
	/* A child can be a parent: sort by time. Records of several CPUs are unordered. */
	qsort(unheard->forks.data, unheard->forks.size, sizeof(*unheard->forks.data),
	      compare_forks);
	vec_for_each (fork, &unheard->forks) {
		const struct shim_mapper *parent = find(unheard, fork->parent_pid);
		struct shim_mapper child = {
			.pid = fork->pid, .wanted = true, .forked = true, .from_ns = fork->time_ns};

		if (!parent || find(unheard, fork->pid) ||
		    (!parent->pending && !parent->unread && fork->time_ns > parent->attached_ns))
			continue;
		child.pending = parent->pending;
		child.attached_ns = parent->attached_ns;
		if (shim_unheard_map(unheard, &child))
			return -ENOMEM;
	}
	return 0;
}

int shim_unheard_settle(struct shim_unheard *unheard)
{
	int err = add_children(unheard);

	vec_for_each (mapper, &unheard->mappers)
		mapper->unread &= err != 0;
	return err;
}

/*
 * A drain reads all records from before it began. A record from during a drain may be read by the
 * next drain, after records of its consequences on other CPUs. So forks are kept for one more
 * drain.
 */
void shim_unheard_forget(struct shim_unheard *unheard, uint64_t round_ns)
{
	bool needed = false;
	size_t kept = 0;

	vec_for_each (mapper, &unheard->mappers)
		needed |= mapper->wanted || mapper->unread || mapper->pending ||
			  mapper->attached_ns >= round_ns;
	if (needed)
		return;
	unheard->mappers.size = 0;
	index_map_deinit(&unheard->index);
	vec_for_each (fork, &unheard->forks) {
		if (fork->time_ns >= unheard->round_ns)
			unheard->forks.data[kept++] = *fork;
	}
	unheard->forks.size = kept;
	unheard->round_ns = round_ns;
}

void shim_unheard_deinit(struct shim_unheard *unheard)
{
	vec_deinit(&unheard->mappers);
	index_map_deinit(&unheard->index);
	vec_deinit(&unheard->forks);
}
