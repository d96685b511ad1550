/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files in which Docker, Podman and the kubelet keep the IDs and names of containers. They are
 * JSON as these programs write it, without spaces.
 */
#ifndef JITBPF_AGENT_FILES_HELPER_CONTAINER_FILES_H
#define JITBPF_AGENT_FILES_HELPER_CONTAINER_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "uapi/record.h"

#define CONTAINER_ID_CHARACTERS	 64
#define CONTAINER_FILE_BYTES_MAX (4u << 20) /* a larger file is not read */

/* In Podman's storage: all containers, and those of --rm. */
#define PODMAN_FILES 4
extern const char *const podman_files[PODMAN_FILES];

/* Returns true if a text begins with a container ID. */
bool container_id_begins(const char *text);

/* Returns true if a text is a container ID. */
bool container_id_is(const char *text);

/* Make a path. Returns false if it is too long. */
bool container_path_set(char ret[PATH_MAX], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Returns the text of an open file (negative: none) for free(), or NULL. */
char *container_file_read(int fd);

/* The same for a path, which may be no link. */
char *container_file_text(const char *path);

/*
 * Get the name in Docker's file of a container; text NULL: there is no such file. Returns 0 or
 * -ENOENT.
 */
int docker_name(const char *text, char ret[JITBPF_CGROUP_NAME_MAX]);

/* A container in a file of Podman: an ID and a list of names in quotes, up to `end`. */
struct podman_container {
	const char *id;
	const char *names, *end; /* names NULL: it has none */
};

/* Get the container behind *at, and move *at behind its ID. Returns false if there is none. */
bool podman_next(const char **at, struct podman_container *ret);

/* Get the first name of a container in a file of Podman, as docker_name(). */
int podman_name(const char *text, const char *id, char ret[JITBPF_CGROUP_NAME_MAX]);

/* The parts of a log's name, POD_NAMESPACE_CONTAINER-ID.log. */
struct kubernetes_log {
	const char *pod, *container, *id;
	size_t pod_bytes, container_bytes;
};

/* Parse the name of a file among the kubelet's logs. Returns false if it is none of a container. */
bool kubernetes_log_parse(const char *file, struct kubernetes_log *ret);

#endif
