/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The users of copies of the shim: processes that mapped a copy, or inherited it. For the files of
 * shim_copies.h, which declares the other functions of shim_copy_users.c.
 */
#ifndef JITBPF_AGENT_PUBLISHER_SHIM_COPY_USERS_H
#define JITBPF_AGENT_PUBLISHER_SHIM_COPY_USERS_H

#include "agent/publisher/shim_copies.h"

static inline bool shim_file_is_same(const struct mapped_file *a, const struct mapped_file *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

/*
 * Returns true for copies that are never detached: the installed shim, and those added beside it.
 */
static inline bool shim_copy_is_installed(const struct shim_copies *copies,
					  const struct shim_copy *copy)
{
	return copy->beside || shim_file_is_same(&copy->file, &copies->site->file);
}

/*
 * Note that a process maps the copy since time_ns. If its pid is reused, the later process counts
 * as a user, too. Returns 0 or -ENOMEM.
 */
int shim_copy_add_user(struct shim_copy *copy, uint32_t pid, uint64_t time_ns);

#endif
