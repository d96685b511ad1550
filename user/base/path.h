/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JITBPF_BASE_PATH_H
#define JITBPF_BASE_PATH_H

#include <string.h>

/* The file that a path is of, which points into it: all of it where it has no slash. */
static inline const char *path_file(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#endif
