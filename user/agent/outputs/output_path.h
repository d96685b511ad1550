/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the folder and the file that a path names. A link is followed only if it belongs to root or
 * to our own user, since the owner of a link chooses the file that is written. This applies to all
 * folders of the path, whatever fs.protected_symlinks is.
 */
#ifndef JITBPF_AGENT_OUTPUTS_OUTPUT_PATH_H
#define JITBPF_AGENT_OUTPUTS_OUTPUT_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct output_path {
	int folder_fd;		 /* O_PATH; stays the same folder after renames of its parents */
	int file_fd;		 /* O_PATH, not a link; -1 if there is no such file */
	char name[NAME_MAX + 1]; /* of the file in the folder */
};

/*
 * Returns 0 or a negative errno: -ELOOP for another user's link, or for too many links; -EISDIR if
 * the path does not name a file. The caller calls output_path_deinit() after success.
 */
int output_path_find(const char *path, struct output_path *ret);
void output_path_deinit(struct output_path *path);

/* Returns true if we trust files of this user as our own: the user is ours, or root. */
bool output_path_trusts(uid_t owner);

#endif
