/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JITBPF_BASE_PATH_H
#define JITBPF_BASE_PATH_H

#include <string.h>

/* The last part of a path, which points into it; a path without a slash as it is. */
static inline const char *path_file(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The length of a path's folder, without the slash behind it; 0: the root, or no slash. */
static inline int path_folder_bytes(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) : 0;
}

#endif
