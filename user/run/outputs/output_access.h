/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who gets the outputs of a run, and the process that opens them for this user. */
#ifndef JITBPF_RUN_OUTPUTS_OUTPUT_ACCESS_H
#define JITBPF_RUN_OUTPUTS_OUTPUT_ACCESS_H

#include <stdbool.h>

#include "agent/outputs/output_opener.h"

/* The user who gets the outputs, and the process that opens them. */
struct output_access {
	struct invoking_user user;
	struct output_opener *opener; /* NULL if all outputs are standard output */
};

/*
 * Call it before any data of other processes is read. paths are all outputs of the run, NULL for
 * standard output; they are borrowed. Prints a message on errors. Returns 0 or a negative errno.
 * Call output_access_deinit() in any case, after outputs_close().
 */
int output_access_init(struct output_access *access, const struct output_paths *paths);
void output_access_deinit(struct output_access *access);

/* Returns true if a path means standard output: NULL, "-" or "/dev/stdout". */
bool outputs_is_standard(const char *path);

/*
 * Check that standard output can have an output in the format `name` (NULL or unknown: text). The
 * compressed bytes of some formats would change the state of a terminal. Returns false after a
 * message, which names the command.
 */
bool outputs_fit_terminal(const char *command, const char *name);

#endif
