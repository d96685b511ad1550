/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files that a run writes: what each -o asks for. They replace what was
 * there before once they are whole (cli/output_file.h), and not at all where the
 * run fails; a recording does when it has really begun.
 */
#ifndef JITBPF_CLI_OUTPUTS_H
#define JITBPF_CLI_OUTPUTS_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/status_line.h"
#include "pipeline/pipeline.h"

#define RECORDING_EXTENSION ".jitbpf"

struct output_stream; /* see outputs.c */

struct output {
	const char *path; /* borrowed; NULL: standard output */
	FILE *file;
	struct output_stream *stream; /* behind file */
	const struct sink_ops *sink;  /* NULL: a recording, or the caller's own format */
	bool recording;
	bool whole; /* all that belongs into it has been written, and has to be kept */
};

struct outputs {
	VEC(struct output) files;
	bool no_recordings; /* for a command that makes none */
};

/*
 * Open one for writing, and add it: NULL, "-" or "/dev/stdout" is standard output.
 * The format is that called name, or, where that is NULL, follows the ending of
 * path. Says itself what is wrong; then
 * nothing that was there before is touched.
 * Returns 0 or negative errno: -EINVAL where there is no such format, or one too many.
 */
int outputs_add(struct outputs *outputs, const char *path, const char *name);

/*
 * The same, of a file (NULL: standard output) whose format is the caller's: it
 * has no sink. Sets *ret, which outputs_close() closes.
 */
int outputs_add_file(struct outputs *outputs, const char *path, FILE **ret);

/* Add the sinks to pipeline. Returns 0 or -ENOMEM. */
int outputs_attach(const struct outputs *outputs, struct pipeline *pipeline);

/* The file of the recording, or NULL where none was asked for. */
FILE *outputs_recording(const struct outputs *outputs);

/*
 * The recording, if there is one, takes its place from now on. Says itself what
 * is wrong; that is an error of writing, which leaves the other outputs whole.
 */
void outputs_begin_recording(struct outputs *outputs);

/*
 * Write all that have a sink. Says itself what is wrong, and keeps the others.
 * Returns 0 or the first error.
 */
int outputs_write(struct outputs *outputs, struct pipeline *pipeline, struct status_line *status);

/* All is whole: for formats that are the caller's. */
void outputs_keep(struct outputs *outputs);

/* Say what could not be written so far, each output once. Returns 0 or the first error. */
int outputs_check(const struct outputs *outputs);

/* Flush, check, keep what is whole, and close. Returns 0 or the first error. */
int outputs_close(struct outputs *outputs);

#endif
