/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The output files of a run, one per -o. A file replaces an existing one when
 * it is complete (agent/outputs/output_file.h), and not at all if the run fails.
 * A recording replaces the existing file when the recording has started.
 */
#ifndef JITBPF_RUN_OUTPUTS_OUTPUTS_H
#define JITBPF_RUN_OUTPUTS_OUTPUTS_H

#include <stdbool.h>
#include <stdio.h>

#include "pipeline/pipeline.h"
#include "run/messages/status_line.h"
#include "run/outputs/output_access.h"

#define RECORDING_EXTENSION ".jitbpf"
#define RECORDING_DEFAULT   "profile" RECORDING_EXTENSION /* what commands read and write */

struct output_stream; /* output_stream.h */

struct output {
	const char *path;	      /* borrowed; NULL is standard output */
	FILE *file;		      /* a stdio stream over `stream` */
	struct output_stream *stream; /* under file */
	const struct sink_ops *sink;  /* NULL for a recording or a format of the caller */
	bool recording;
	bool whole; /* completely written, to be published */
	bool kept;  /* complete, and at its path; a later failure of the run does not remove it */
};

struct outputs {
	struct output_opener *opener; /* borrowed */
	VEC(struct output) files;
	bool no_recordings; /* for commands that write no recordings */
	bool tentative;	    /* failures until outputs_begin_recording() print no message */
};

/*
 * Open an output and add it. path, one of those of output_access_init(), is borrowed; NULL, "-" and
 * "/dev/stdout" are standard output. The format is `name`, or depends on the extension of path if
 * name is NULL. Prints a message on errors, and then leaves existing files
 * unchanged. Returns 0 or a negative errno: -EINVAL for an unknown format or a
 * second recording.
 */
int outputs_add(struct outputs *outputs, const char *path, const char *name);

/*
 * Open an output file (NULL: standard output) in a format of the caller,
 * without a sink. Sets *ret, which outputs_close() closes. Returns the same
 * errors.
 */
int outputs_add_file(struct outputs *outputs, const char *path, FILE **ret);

/* Returns the file name, without its folder, of the only output, a file of a series. Borrowed. */
const char *outputs_name_in_series(const struct outputs *outputs);

/* Add the sinks to the pipeline. Returns 0 or -ENOMEM. */
int outputs_attach(const struct outputs *outputs, struct pipeline *pipeline);

/* Returns true if an output other than a recording is written. */
bool outputs_show_paths(const struct outputs *outputs);

/* Returns the file of the recording, or NULL if there is none. */
FILE *outputs_recording(const struct outputs *outputs);

/* Returns the descriptor of that file, or -1. */
int outputs_recording_fd(const struct outputs *outputs);

/*
 * Publish the recording, if there is one. A failure prints a message, and
 * leaves the other outputs intact. Returns 0 or the error of the recording.
 */
int outputs_begin_recording(struct outputs *outputs);

/* End the recording after a failure: prints a message once. */
void outputs_fail_recording(struct outputs *outputs, int err);

/* Mark the recording as complete. Returns 0, or the error with which it failed. */
int outputs_keep_recording(struct outputs *outputs);

/*
 * Print which outputs are not complete because the run is interrupted. Any thread may call it while
 * another one writes the outputs.
 */
void outputs_say_interrupted(const struct outputs *outputs);

/*
 * Write the outputs with a sink, and publish each as soon as it is complete. A failure is noted for
 * outputs_close(), and leaves the others intact. Returns 0 or the first error.
 */
int outputs_write(struct outputs *outputs, struct pipeline *pipeline, struct status_line *status);

/* Mark all outputs as complete. For formats of the caller. */
void outputs_keep(struct outputs *outputs);

/*
 * Returns true if an output can be written during the recording: its format needs only counts and
 * names, and its file is replaced when it is complete.
 */
bool output_can_refresh(const struct output *output);

/*
 * Replace the output's file by one with the contents of a view. The output itself is only
 * read, so any thread may do this. Prints a message on errors, and then leaves the existing
 * file unchanged. Returns 0 or a negative errno.
 */
int output_refresh(const struct output *output, const struct view *view);

/* Returns the open file of an output. Borrowed. */
const struct opened_output *output_opened(const struct output *output);

/*
 * Flush, publish the complete outputs, and close all. Prints one message for
 * each failed output. Returns 0 or the first error.
 */
int outputs_close(struct outputs *outputs);

/*
 * The same for one file of a series, which output_opener_delete() can delete
 * later by the number in *ret; UINT32_MAX if it cannot.
 */
int outputs_close_retained(struct outputs *outputs, uint32_t *ret);

#endif
