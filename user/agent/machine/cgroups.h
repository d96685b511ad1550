/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds cgroups of version 2 by path, by systemd unit or by container. The directory of a found
 * cgroup is open, so a later cgroup of the same name is not taken for it.
 */
#ifndef JITBPF_AGENT_MACHINE_CGROUPS_H
#define JITBPF_AGENT_MACHINE_CGROUPS_H

#include "base/vec.h"

struct cgroup_found {
	int fd;
	char *path; /* below the mount point, such as "/system.slice/cron.service"; "/": all */
};

typedef VEC(struct cgroup_found) cgroup_list;

/*
 * Find where cgroup version 2 is mounted. *ret is for free(). Returns 0, -ENOENT if it is not
 * mounted (in a machine with version 1 only), or another negative errno.
 */
int cgroups_mount(char **ret);

/*
 * Find the cgroup of a name below a mount point: a path, absolute or below the mount point, or the
 * name of a systemd unit, possibly without ".service": one that is below another unit only if there
 * is no other, since the owner of that unit names it. Adds it to the list. Returns 0, -ENOENT, or
 * -EXDEV (a directory that is no cgroup of version 2), -EEXIST (several units have the name), or
 * another negative errno.
 */
int cgroups_find(const char *mount, const char *name, cgroup_list *list);

/*
 * Find the cgroups of a container by its ID, the first characters of its ID (four or more), or its
 * name; for Kubernetes also the name of a pod, which can have several. Runtimes' files, which have
 * the names, are read below root ("": that of the machine). Adds them to the list. Returns 0,
 * -ENOENT, -EEXIST (several containers have such an ID), or another negative errno.
 */
int cgroups_find_container(const char *mount, const char *root, const char *name,
			   cgroup_list *list);

void cgroup_list_deinit(cgroup_list *list);

#endif
