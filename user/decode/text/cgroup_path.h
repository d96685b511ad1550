/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the container and the systemd unit in the path of a cgroup. The owner of a cgroup chooses
 * its path, so any cgroup can look like a container.
 */
#ifndef JITBPF_DECODE_TEXT_CGROUP_PATH_H
#define JITBPF_DECODE_TEXT_CGROUP_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/record.h"

/* Characters of a container's ID that are shown instead of its name, as runtimes do. */
#define CGROUP_PATH_SHORT_ID 12

/*
 * Get the container from the name of a cgroup's directory: the ID that Docker, Podman, CRI-O and
 * containerd use, or the name of an LXC container or a systemd machine. Returns false, with *ret
 * undefined, if the directory is of no container.
 */
bool cgroup_path_container(const char *directory, char ret[JITBPF_CGROUP_NAME_MAX]);

/*
 * Get the next directory of a path, and move *path behind it. Returns false at the end. Directories
 * that are too long, which the kernel does not allow, are skipped.
 */
bool cgroup_path_next(const char **path, char ret[JITBPF_CGROUP_NAME_MAX]);

/*
 * Get the user whose systemd session a cgroup is in, from /user.slice/user-UID.slice: users can
 * make cgroups in that directory, but not beside it. Returns false if the cgroup is in no session.
 */
bool cgroup_path_user(const char *path, uint32_t *ret);

/*
 * Returns true if a directory is a unit (service or scope) or a container. The system's own manager
 * makes none below another one: what is below belongs to the owner of that unit or container, who
 * chooses the names.
 */
bool cgroup_path_is_delegated(const char *directory);

/*
 * All are "" if there is none. A unit below another one has the path from that one on, such as
 * "user@1000.service/app.slice/nginx.service": its owner may have named it like a unit of the
 * system. If that is too long, unit is "".
 */
struct cgroup_path_names {
	char container[JITBPF_CGROUP_NAME_MAX]; /* of the innermost container: ID or name */
	char unit[JITBPF_CGROUP_NAME_MAX];   /* innermost service or scope that is no container */
	char within[JITBPF_CGROUP_NAME_MAX]; /* the unit that the container is below */
};

void cgroup_path_names(const char *path, struct cgroup_path_names *ret);

#endif
