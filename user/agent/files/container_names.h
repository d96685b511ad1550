/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Containers by what their runtimes call them. */
#ifndef JITBPF_AGENT_FILES_CONTAINER_NAMES_H
#define JITBPF_AGENT_FILES_CONTAINER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "uapi/record.h"

typedef VEC(char *) name_list; /* owns the names */

/*
 * Add the IDs of the containers of a name to the list, as Docker, Podman, Kubernetes and nerdctl
 * note them below root ("": that of the machine). Returns 0 or -ENOMEM. Files that cannot be read
 * have none.
 */
int container_ids_of_name(const char *root, const char *name, name_list *list);

/*
 * Get the name of the container of an ID, as Docker, Podman, Kubernetes and nerdctl note it below
 * root; of Kubernetes that of the pod and of the container in it, as in "web-0/nginx". Returns 0,
 * -ENOENT if none is noted or the files cannot be read, or -ENOMEM.
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
