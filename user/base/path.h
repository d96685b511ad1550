/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JITBPF_BASE_PATH_H
#define JITBPF_BASE_PATH_H

#include <string.h>

/* Returns the last component of a path, as a pointer into it; all of a path without a slash. */
static inline const char *path_file(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Returns the length of a path's directory, without the slash after it; 0 for "/x" and "x". */
static inline int path_folder_bytes(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) : 0;
}

/*
 * Remove from a path, in place, components that change nothing: "//", "./", and "a/../" as if "a"
 * were no link. Returns the new length.
 */
size_t path_normalize(char *path);

#endif
