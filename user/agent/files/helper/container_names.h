/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Looks up containers by name, and names by container ID. */
#ifndef JITBPF_AGENT_FILES_HELPER_CONTAINER_NAMES_H
#define JITBPF_AGENT_FILES_HELPER_CONTAINER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "uapi/record.h"

typedef VEC(char *) name_list; /* owns the names */

/*
 * Add the IDs of the containers with a name to the list. The names are read from the files of
 * Docker, Podman, Kubernetes and nerdctl below root ("": that of the machine). Files that cannot be
 * read are skipped. Returns 0 or -ENOMEM.
 */
int container_ids_of_name(const char *root, const char *name, name_list *list);

/*
 * Get the name of the container with an ID, from the same files. For Kubernetes, the name is that
 * of the pod and of the container in it, as in "web-0/nginx". Returns 0, -ENOENT (no name is
 * found), or -ENOMEM.
 */
int container_name_of_id(const char *root, const char *id, char ret[JITBPF_CGROUP_NAME_MAX]);

/*
 * Find the name of a container that a user runs without root, in the files of Docker, Podman and
 * nerdctl in the user's home. The user owns these files, so the name can be any. Only files of at
 * most 4 MB on the home's own file system are read. For helper processes, or processes of that
 * user. Returns as above.
 */
int container_name_of_user(const char *root, uint32_t uid, const char *id,
			   char ret[JITBPF_CGROUP_NAME_MAX]);

void name_list_deinit(name_list *list);

#endif
