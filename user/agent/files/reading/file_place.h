/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The accounts to which file_reader.h charges time spent waiting for files. */
#ifndef JITBPF_AGENT_FILES_READING_FILE_PLACE_H
#define JITBPF_AGENT_FILES_READING_FILE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/owner_budget.h"

enum file_place_kind {
	FILE_PLACE_DEVICE, /* a: major device number, b: minor */
	FILE_PLACE_ROOT,   /* a: process whose root it is; 0: our root, except its trees */
	FILE_PLACE_TREE,   /* a, b: hash of the name of a tree in our root */
	FILE_PLACE_USER,   /* a, b: hash of a place, and of the user who alone may open its files */
	FILE_PLACE_MEMORY, /* a: process whose memory it is */
	FILE_PLACE_SERVERS,
};

/*
 * A place has an account for each owner of processes that need it: a user can let requests for
 * files of any device wait, since the look-up of a path can pass a file system of that user.
 */
struct file_place {
	enum file_place_kind kind;
	uint32_t a, b;
	struct owner_key owner; /* without a cgroup, except for root */
};

/* The owner of requests that no process causes, and of processes without a known owner. */
#define FILE_OWNER_UNKNOWN ((struct owner_key){.uid = OWNER_UNKNOWN_UID})

static inline bool file_owner_equal(struct owner_key x, struct owner_key y)
{
	return x.uid == y.uid && x.cgroup == y.cgroup;
}

static inline bool file_place_equal(struct file_place x, struct file_place y)
{
	return x.kind == y.kind && x.a == y.a && x.b == y.b && file_owner_equal(x.owner, y.owner);
}

static inline struct file_place file_place_of(enum file_place_kind kind, uint32_t a, uint32_t b,
					      struct owner_key owner)
{
	if (owner.uid)
		owner.cgroup = 0;
	return (struct file_place){.kind = kind, .a = a, .b = b, .owner = owner};
}

static inline struct file_place file_place_of_device(uint32_t major, uint32_t minor,
						     struct owner_key owner)
{
	return file_place_of(FILE_PLACE_DEVICE, major, minor, owner);
}

static inline struct file_place file_place_of_memory(uint32_t pid, struct owner_key owner)
{
	return file_place_of(FILE_PLACE_MEMORY, pid, 0, owner);
}

/*
 * Returns the place of a debug file: the root of process pid, or, if pid is 0,
 * a part of our root that depends on path (absolute). A hostile program can
 * name a debug file at a path that hangs. That must not block /usr/lib/debug,
 * which only root writes. So other files are charged to trees such as
 * /mnt/server or /home/user, and paths with ".." to a single tree.
 */
struct file_place file_place_of_debug(uint32_t pid, const char *path, struct owner_key owner);

/* Returns the place of those files of a place that only one user may open. */
struct file_place file_place_of_user(struct file_place place, uint32_t uid, uint32_t gid);

#endif
