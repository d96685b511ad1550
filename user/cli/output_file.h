/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file being written anew. Until it is published it has no name, or a passing
 * one beside its place, and what stands there stays as it is. What cannot be
 * replaced (a device, a FIFO, a file in a folder that takes none, one that is
 * mounted by itself) is written in place, and emptied only when that begins.
 */
#ifndef JITBPF_CLI_OUTPUT_FILE_H
#define JITBPF_CLI_OUTPUT_FILE_H

#include <stdbool.h>

struct output_file {
	int fd;		 /* to write to; the caller's to close */
	char *target;	 /* where it will stand, links resolved; NULL: it stands in place */
	char *temporary; /* its name until then; NULL: it has none yet */
	bool stale;	 /* in place, with what was there before */
};

/* Returns 0 or negative errno, with nothing changed but that a passing file may be there. */
int output_file_open(const char *path, struct output_file *ret);

/* Are both the same file, or will be? Devices and the like may be written to twice. */
bool output_file_same(const struct output_file *a, const struct output_file *b);

/* To be called before the first byte is written. Returns 0 or negative errno. */
int output_file_begin(struct output_file *file);

/*
 * Put it in its place, whole or to be written on: from now on it stands there.
 * Returns 0 or negative errno. More than once is fine.
 */
int output_file_publish(struct output_file *file);

/* Release all but fd; what has not been published is gone. */
void output_file_deinit(struct output_file *file);

#endif
