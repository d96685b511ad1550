/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opens output files through a process with the invoking user's rights (output_service.h). */
#ifndef JITBPF_AGENT_OUTPUTS_OUTPUT_OPENER_H
#define JITBPF_AGENT_OUTPUTS_OUTPUT_OPENER_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/outputs/output_service.h"

struct output_opener; /* see output_opener.c */

/* An open output, as agent/outputs/output_file.h describes. */
struct opened_output {
	int fd; /* to write to; closed by the caller */
	uint32_t number;
	bool served;   /* opened by the process; else it is a descriptor that jitbpf was given */
	bool replaces; /* it gets its name when it is published */
	bool kept_old; /* published: the file before is NAME.old */
	bool stale;    /* written in place, and still has its old contents */
	char place[OUTPUT_PLACE_MAX]; /* equal texts: the same file; "" for devices and the like */
	char name[NAME_MAX + 1];      /* of a series: of the file in its folder */
};

/*
 * Fork the process. Call it while this process has one thread and has read nothing of others. user
 * and paths are borrowed; the process has copies. Returns 0 or a negative errno.
 */
int output_opener_create(const struct invoking_user *user, const struct output_paths *paths,
			 struct output_opener **ret);

/* Ends the process; files that were not published are deleted. NULL is allowed. */
void output_opener_destroy(struct output_opener *opener);

/* Returns the name of the user who called sudo, or NULL. Borrowed. */
const char *output_opener_user(const struct output_opener *opener);

/*
 * Open one of the declared paths. A path that names one of our descriptors (/dev/fd/3,
 * /dev/stderr) gives a duplicate of it. Opening a FIFO waits for its reader. Returns 0 or a
 * negative errno: those of output_file_open(), -EMFILE, or -EPIPE if the process has ended.
 * Thread-safe, like all functions below.
 */
int output_opener_open(struct output_opener *opener, const char *path, struct opened_output *ret);

/*
 * Give the file its final name. It may be written to afterwards, and this may be called repeatedly.
 * Returns 0 or a negative errno.
 */
int output_opener_publish(struct output_opener *opener, struct opened_output *opened);

/* Forget a file, but not its fd. It is deleted unless it was published. */
void output_opener_forget(struct output_opener *opener, const struct opened_output *opened);

/* Likewise, for a published file of a series that output_opener_delete() may delete later. */
int output_opener_retain(struct output_opener *opener, const struct opened_output *opened);
int output_opener_delete(struct output_opener *opener, uint32_t number);

#endif
