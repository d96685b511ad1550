/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/jitdump_files.h"

#include <errno.h>
#include <sys/resource.h>

#include "agent/files/descriptor_budget.h"

void jitdump_files_init(struct jitdump_files *ret, const struct process_owners *owners)
{
	struct rlimit limit;
	uint64_t kept;

	*ret = (struct jitdump_files){.owners = owners, .budget.limit = JITDUMP_FILES_MAX};
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	kept = descriptor_budget_kept(limit.rlim_cur) / 2;
	if (kept < JITDUMP_FILES_MAX)
		ret->budget.limit = kept > JITDUMP_FILES_LEAST ? kept : JITDUMP_FILES_LEAST;
}

void jitdump_files_deinit(struct jitdump_files *files)
{
	while (files->files.size)
		jitdump_files_drop(files, files->files.size - 1);
	vec_deinit(&files->files);
	vec_deinit(&files->ended);
	vec_deinit(&files->forks);
	owner_budget_deinit(&files->budget);
}

/* Charge a file to the owner of a process that has `count` files. Returns 0, -EDQUOT or -ENOMEM. */
static int charge(struct jitdump_files *files, uint32_t pid, uint32_t count,
		  struct budget_owner **ret)
{
	struct process_owner process =
		files->owners ? process_owners_find(files->owners, pid) : PROCESS_OWNER_UNKNOWN;
	struct budget_owner *owner;
	int err = owner_budget_get(&files->budget, process_owner_key(&process), &owner);

	if (err)
		return err;
	err = count < JITDUMP_FILES_OF_PROCESS_MAX ? owner_budget_charge(&files->budget, owner, 1)
						   : -EDQUOT;
	if (err) {
		owner_budget_put(&files->budget, owner);
		return err;
	}
	*ret = owner;
	return 0;
}

static void release(struct jitdump_files *files, struct budget_owner *owner)
{
	owner_budget_release(&files->budget, owner, 1);
	owner_budget_put(&files->budget, owner);
}

void jitdump_files_drop(struct jitdump_files *files, size_t index)
{
	struct jitdump_followed *followed = files->files.data[index];

	release(files, followed->owner);
	jitdump_followed_destroy(followed);
	files->files.data[index] = files->files.data[--files->files.size];
}

static int see_mapping(struct jitdump_files *files, const struct jitbpf_mapping *mapping)
{
	struct jitdump_followed *followed;
	uint32_t count = 0, inner_pid;
	struct budget_owner *owner;
	int err;

	if (!mapping->inode || !jitdump_file_has_name(mapping->path, &inner_pid))
		return 0;
	vec_for_each (other, &files->files) {
		if ((*other)->pid != mapping->pid || (*other)->ended_ns)
			continue;
		if (jitdump_followed_is(*other, mapping))
			return 0;
		count++;
	}
	err = vec_reserve(&files->files, files->files.size + 1);
	err = err ?: charge(files, mapping->pid, count, &owner);
	if (err == -EDQUOT)
		files->over_budget++;
	if (err)
		return err == -EDQUOT ? 0 : err;
	err = jitdump_followed_create(mapping, &followed);
	if (err) {
		release(files, owner);
		return err;
	}
	followed->owner = owner;
	followed->number = files->next_number++;
	files->files.data[files->files.size++] = followed;
	vec_for_each (fork, &files->forks)
		err = err ?: jitdump_followed_fork(followed, fork);
	vec_for_each (ended, &files->ended)
		jitdump_followed_end(followed, ended->pid, ended->time_ns);
	return err;
}

static int see_fork(struct jitdump_files *files, const struct jitbpf_task *fork)
{
	int err = 0;

	if (fork->pid == fork->parent_pid)
		return 0;
	vec_for_each (followed, &files->files) {
		err = err ?: jitdump_followed_fork(*followed, fork);
		vec_for_each (ended, &files->ended) {
			if (ended->pid == fork->pid && ended->time_ns >= fork->h.time_ns)
				jitdump_followed_end(*followed, ended->pid, ended->time_ns);
		}
	}
	return err ?: vec_push(&files->forks, *fork);
}

static int see_end(struct jitdump_files *files, uint32_t pid, uint64_t time_ns)
{
	vec_for_each (followed, &files->files)
		jitdump_followed_end(*followed, pid, time_ns);
	return vec_push(&files->ended, ((struct ended_process){pid, time_ns}));
}

int jitdump_files_see(struct jitdump_files *files, const struct jitbpf_record *record)
{
	switch (record->type) {
	case JITBPF_MAPPING:
		return see_mapping(files, (const struct jitbpf_mapping *)record);
	case JITBPF_FORK:
		return see_fork(files, (const struct jitbpf_task *)record);
	case JITBPF_EXIT:
		return see_end(files, ((const struct jitbpf_task *)record)->pid, record->time_ns);
	case JITBPF_COMM:
		if (!(record->flags & JITBPF_COMM_EXEC))
			return 0;
		return see_end(files, ((const struct jitbpf_comm *)record)->pid, record->time_ns);
	default:
		return 0;
	}
}

/*
 * A mapping is seen in the drain of its time or in the next one. Ends and forks after it may be
 * seen before it, in either.
 */
void jitdump_files_begin_round(struct jitdump_files *files, uint64_t round_ns)
{
	size_t kept = 0, kept_forks = 0;

	vec_for_each (ended, &files->ended) {
		if (ended->time_ns >= files->round_ns)
			files->ended.data[kept++] = *ended;
	}
	vec_for_each (fork, &files->forks) {
		if (fork->h.time_ns >= files->round_ns)
			files->forks.data[kept_forks++] = *fork;
	}
	files->ended.size = kept;
	files->forks.size = kept_forks;
	files->forks_ns = files->round_ns;
	files->round_ns = round_ns;
}
