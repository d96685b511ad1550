/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An output file that replaces an existing file only when it is complete. Until it is published, it
 * has no name or a temporary name beside its target, and the existing file is unchanged. Its owner
 * is our user and its mode is 0600, whatever file was there: recordings hold addresses of the
 * kernel, and the names and command lines of other users.
 *
 * A file that cannot be replaced is written in place, and truncated when writing begins: a device,
 * a FIFO, a mount point, or a file in a folder without write permission. It must belong to our user
 * or to root.
 *
 * All of this happens as the user of the calling process, which agent/outputs/output_service.h
 * chooses. Links are followed as in agent/outputs/output_path.h.
 */
#ifndef JITBPF_AGENT_OUTPUTS_OUTPUT_FILE_H
#define JITBPF_AGENT_OUTPUTS_OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>

#include "agent/outputs/output_path.h"

#define OUTPUT_PLACE_MAX (NAME_MAX + 64)

struct output_file {
	int fd;		 /* to write to; closed by the caller */
	int folder_fd;	 /* of a file that is to be published; else -1 */
	char *name;	 /* its final name there; NULL if it is written in place, or published */
	char *temporary; /* its temporary name there; NULL if it has none */
	bool stale;	 /* written in place, and still has its old contents */
	bool keeps_old;	 /* set by the owner: the file that it replaces becomes NAME.old */
	bool kept_old;	 /* there was one */
	/* equal texts: the same file; "" for devices and the like, which may be opened twice */
	char place[OUTPUT_PLACE_MAX];
};

/*
 * Opening a FIFO waits for its reader, or until hangup_fd (-1: none) hangs up. Returns 0 or a
 * negative errno: -EPERM for another user's file that cannot be replaced, and the errors of
 * output_path_find(). On failure nothing is changed, but a temporary file may be left.
 */
int output_file_open(const char *path, int hangup_fd, struct output_file *ret);

/*
 * Create a file in a folder that was found before. Returns as above; -EEXIST if the name is in use.
 */
int output_file_create(int folder_fd, const char *name, struct output_file *ret);

/* Truncate a stale file: call it before the first byte is written. Returns 0 or a negative errno.
 */
int output_file_begin(int fd, bool *stale);

/*
 * Move the file to its final path; it may still be written to afterwards. With keeps_old, a regular
 * file that is there becomes NAME.old before, whatever has that name; a failure leaves both. Links
 * are not followed.
 * Returns 0 or a negative errno. May be called repeatedly.
 */
int output_file_publish(struct output_file *file);

/* Free all but fd. A file that was not published is deleted. */
void output_file_deinit(struct output_file *file);

#endif
