/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes the agent's library available to a process. If the process can reach the installed file at
 * its path, it loads that file. Otherwise the library is copied into the process's root for the
 * time of the loading: for a container, a chroot, or a user who cannot reach the installed file.
 *
 * The caller acts as the process's user, so the copy belongs to that user. No copy is made in a
 * folder where other users can replace files. Root of the process's user namespace is no other user
 * here: it has all rights over the process.
 */
#ifndef JITBPF_AGENT_JVM_AGENT_PLACE_H
#define JITBPF_AGENT_JVM_AGENT_PLACE_H

#include <limits.h>
#include <stdint.h>

struct agent_place {
	char path[PATH_MAX]; /* in the process's root */
	int folder_fd;	     /* of a copy; -1: there is none */
	const char *name;    /* of a copy: the file, within path */
};

/* Open a folder, such as "tmp", in the root of a process. Returns an O_PATH descriptor or -errno.
 */
int agent_place_open_folder(int root_fd, const char *folder);

struct agent_user {
	uint32_t uid;
	uint32_t root_uid; /* root of its user namespace */
};

/*
 * Find or make the place. agent_fd: the installed library, open for reading; path: its path in our
 * root; user: the process's. Returns 0, after which the caller calls agent_place_remove(); -EACCES
 * if no folder takes a copy that can be executed; or the negative errno of the copying.
 */
int agent_place_find(int root_fd, int agent_fd, const char *path, const struct agent_user *user,
		     struct agent_place *ret);

/* Remove the copy. A JVM that has loaded it keeps it mapped. */
void agent_place_remove(struct agent_place *place);

#endif
