/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/jitdump_followed.h"

#include <errno.h>
#include <stdlib.h>

int jitdump_followed_create(const struct jitbpf_mapping *mapping, struct jitdump_followed **ret)
{
	struct jitdump_followed *followed = calloc(1, sizeof(*followed));
	int err = followed ? jitdump_file_init(&followed->file, mapping) : -ENOMEM;

	if (err) {
		free(followed);
		return err;
	}
	followed->pid = mapping->pid;
	followed->mapped_ns = mapping->h.time_ns;
	*ret = followed;
	return 0;
}

void jitdump_followed_destroy(struct jitdump_followed *followed)
{
	jitdump_file_deinit(&followed->file);
	vec_deinit(&followed->heirs);
	free(followed);
}

bool jitdump_followed_is(const struct jitdump_followed *followed,
			 const struct jitbpf_mapping *mapping)
{
	const struct jitbpf_mapping *own = followed->file.mapping;

	return own->inode == mapping->inode && own->dev_major == mapping->dev_major &&
	       own->dev_minor == mapping->dev_minor;
}

/* Returns the heir with a pid that had not ended at a time, or NULL. */
static struct jitdump_heir *find_heir(struct jitdump_followed *followed, uint32_t pid,
				      uint64_t time_ns)
{
	vec_for_each (heir, &followed->heirs) {
		if (heir->pid == pid && (!heir->ended_ns || heir->ended_ns >= time_ns))
			return heir;
	}
	return NULL;
}

int jitdump_followed_add_heir(struct jitdump_followed *followed, uint32_t pid)
{
	struct jitdump_heir heir = {.pid = pid};

	if (followed->heirs.size >= JITDUMP_HEIRS_MAX || find_heir(followed, pid, UINT64_MAX))
		return 0;
	followed->last_writer = SIZE_MAX; /* the new one may have the same inner pid */
	return vec_push(&followed->heirs, heir);
}

int jitdump_followed_fork(struct jitdump_followed *followed, const struct jitbpf_task *fork)
{
	uint64_t time_ns = fork->h.time_ns;
	bool own = followed->pid == fork->parent_pid &&
		   (!followed->ended_ns || followed->ended_ns >= time_ns);

	if (fork->pid == fork->parent_pid || time_ns < followed->mapped_ns ||
	    (!own && !find_heir(followed, fork->parent_pid, time_ns)))
		return 0;
	if (time_ns > followed->forked_ns)
		followed->forked_ns = time_ns;
	return jitdump_followed_add_heir(followed, fork->pid);
}

void jitdump_followed_end(struct jitdump_followed *followed, uint32_t pid, uint64_t time_ns)
{
	struct jitdump_heir *heir = find_heir(followed, pid, UINT64_MAX);

	if (heir)
		heir->ended_ns = time_ns;
	if (followed->pid == pid && followed->mapped_ns <= time_ns && !followed->ended_ns)
		followed->ended_ns = time_ns;
}

bool jitdump_followed_is_over(const struct jitdump_followed *followed)
{
	vec_for_each (heir, &followed->heirs) {
		if (!heir->ended_ns)
			return false;
	}
	return followed->ended_ns;
}

static void read_inner_pid(const struct jitdump_followed *followed, process_text *text,
			   struct jitdump_heir *heir)
{
	if (!process_inner_pid(text, heir->pid, &heir->inner_pid))
		return;
	/* The heir has ended. Assume that it had the pid namespace of its parent, as most have. */
	if (followed->file.events.header.pid == followed->pid)
		heir->inner_pid = heir->pid;
	heir->is_gone = true;
}

static struct jitdump_heir *find_writer(struct jitdump_followed *followed, process_text *text,
					uint32_t inner_pid)
{
	struct jitdump_heir *heirs = followed->heirs.data;

	if (followed->last_writer < followed->heirs.size &&
	    heirs[followed->last_writer].inner_pid == inner_pid)
		return &heirs[followed->last_writer];
	followed->last_writer = SIZE_MAX;
	vec_for_each (heir, &followed->heirs) {
		if (!heir->inner_pid && !heir->is_gone)
			read_inner_pid(followed, text, heir);
		if (heir->inner_pid == inner_pid)
			followed->last_writer = (size_t)(heir - heirs);
	}
	return followed->last_writer == SIZE_MAX ? NULL : &heirs[followed->last_writer];
}

uint32_t jitdump_followed_writer(struct jitdump_followed *followed, process_text *text,
				 uint32_t inner_pid, uint64_t **ret_sequence)
{
	bool own = inner_pid == followed->file.events.header.pid;
	struct jitdump_heir *heir =
		own || !inner_pid ? NULL : find_writer(followed, text, inner_pid);

	if (ret_sequence)
		*ret_sequence = heir ? &heir->sequence : &followed->sequence;
	if (heir)
		return heir->pid;
	return own ? followed->pid : 0;
}

void jitdump_followed_forget(struct jitdump_followed *followed)
{
	size_t kept = 0;

	followed->last_writer = SIZE_MAX;
	vec_for_each (heir, &followed->heirs) {
		if (!heir->ended_ns || heir->ended_ns >= followed->read_ns)
			followed->heirs.data[kept++] = *heir;
	}
	followed->heirs.size = kept;
}
