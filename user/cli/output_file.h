/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An output file that replaces an existing file only when it is complete. Until
 * it is published, it has no name or a temporary name beside its target, and
 * the existing file is unchanged. A file that cannot be replaced is written in
 * place, and truncated when writing begins: a device, a FIFO, a mount point, or
 * a file in a directory without write permission.
 */
#ifndef JITBPF_CLI_OUTPUT_FILE_H
#define JITBPF_CLI_OUTPUT_FILE_H

#include <stdbool.h>

struct output_file {
	int fd;		 /* file descriptor to write to; closed by the caller */
	char *target;	 /* final path, with links resolved; NULL if the file is written in place */
	char *temporary; /* temporary name; NULL if it has none */
	bool stale;	 /* written in place, and still has its old contents */
};

/*
 * Returns 0 or a negative errno. On failure nothing is changed, but a temporary
 * file may be left.
 */
int output_file_open(const char *path, struct output_file *ret);

/* Returns true if both are the same file. Devices and the like may be opened twice. */
bool output_file_same(const struct output_file *a, const struct output_file *b);

/* Call it before the first byte is written. Returns 0 or a negative errno. */
int output_file_begin(struct output_file *file);

/*
 * Move the file to its final path; it may still be written to afterwards.
 * Returns 0 or a negative errno. May be called repeatedly.
 */
int output_file_publish(struct output_file *file);

/* Free all but fd. A file that was not published is deleted. */
void output_file_deinit(struct output_file *file);

#endif
