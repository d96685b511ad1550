/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/shim_copy_users.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

static bool uses(const struct shim_copy *copy, uint32_t pid)
{
	vec_for_each (user, &copy->pids) {
		if (*user == pid)
			return true;
	}
	return false;
}

static bool lives(uint32_t pid)
{
	return !kill((pid_t)pid, 0) || errno == EPERM;
}

static void forget_ended(struct shim_copy *copy)
{
	size_t kept = 0;

	vec_for_each (pid, &copy->pids) {
		if (lives(*pid))
			copy->pids.data[kept++] = *pid;
	}
	copy->pids.size = kept;
}

int shim_copy_add_user(struct shim_copy *copy, uint32_t pid, uint64_t time_ns)
{
	copy->used_ns = time_ns > copy->used_ns ? time_ns : copy->used_ns;
	if (uses(copy, pid))
		return 0;
	if (copy->pids.size == copy->pids.capacity)
		forget_ended(copy);
	return vec_push(&copy->pids, pid);
}

int shim_copies_fork(struct shim_copies *copies, const struct jitbpf_task *fork)
{
	if (!copies->in_use || fork->pid == fork->parent_pid)
		return 0;
	return vec_push(&copies->forks,
			((struct shim_copy_fork){fork->pid, fork->parent_pid, fork->h.time_ns}));
}

static int compare_forks(const void *a, const void *b)
{
	const struct shim_copy_fork *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/*
 * Add the children of forks to the copies that their parents map. The records of a fork and of a
 * mapping come from different CPUs, in any order, and up to one drain apart.
 */
int shim_copies_end_round(struct shim_copies *copies, uint64_t round_ns)
{
	size_t kept = 0;

	if (copies->forks.size)
		qsort(copies->forks.data, copies->forks.size, sizeof(*copies->forks.data),
		      compare_forks);
	vec_for_each (fork, &copies->forks) {
		vec_for_each (copy, &copies->known) {
			if (uses(copy, fork->parent_pid) &&
			    shim_copy_add_user(copy, fork->pid, fork->time_ns))
				return -ENOMEM;
		}
		if (fork->time_ns >= copies->round_ns)
			copies->forks.data[kept++] = *fork;
	}
	copies->forks.size = kept;
	copies->round_ns = round_ns;
	return 0;
}

struct shim_copy *shim_copies_unused(struct shim_copies *copies, uint64_t now_ns)
{
	struct shim_copy *unused = NULL;

	vec_for_each (copy, &copies->known) {
		if (!copy->attached_ns || shim_copy_is_installed(copies, copy) ||
		    copy->used_ns + SHIM_UNUSED_NS > now_ns ||
		    (unused && unused->used_ns < copy->used_ns))
			continue;
		forget_ended(copy);
		if (!copy->pids.size)
			unused = copy;
	}
	return unused;
}
