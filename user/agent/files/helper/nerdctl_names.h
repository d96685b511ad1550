/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of containers in nerdctl's files. nerdctl's folder has a subfolder for each containerd, and
 * in it names/NAMESPACE/NAME: a file named for the container, whose content is the container's ID.
 * Each user can have such a folder. For helper processes.
 */
#ifndef JITBPF_AGENT_FILES_HELPER_NERDCTL_NAMES_H
#define JITBPF_AGENT_FILES_HELPER_NERDCTL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/record.h"

#define NERDCTL_ENTRIES_MAX 2048 /* of all folders together; further ones are not read */
#define NERDCTL_ANY_USER    UINT32_MAX

/* Takes a name and the 64 characters of an ID. Returns true to go on. */
typedef bool (*nerdctl_name_fn)(void *context, const char *name, const char *id);

/*
 * Pass all names below a folder, such as ".local/share/nerdctl" in the folder `base`, to take().
 * Links and other file systems are not followed, and files of other users than `user` are skipped.
 */
void nerdctl_names_read(int base, const char *folder, uint32_t user, nerdctl_name_fn take,
			void *context);

/*
 * Get the name of the container with an ID below such a folder. Returns 0, or -ENOENT (no name is
 * found).
 */
int nerdctl_name_of_id(int base, const char *folder, uint32_t user, const char *id,
		       char ret[JITBPF_CGROUP_NAME_MAX]);

#endif
