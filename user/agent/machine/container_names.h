/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Containers by what their runtimes call them. */
#ifndef JITBPF_AGENT_MACHINE_CONTAINER_NAMES_H
#define JITBPF_AGENT_MACHINE_CONTAINER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

typedef VEC(char *) name_list; /* owns the names */

/*
 * Add the IDs of the containers of a name to the list, as Docker, Podman and Kubernetes note them
 * below root ("": that of the machine). Returns 0 or -ENOMEM. Files that cannot be read have none.
 */
int container_ids_of_name(const char *root, const char *name, name_list *list);

void name_list_deinit(name_list *list);

#endif
