/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stream of an output file under its FILE. */
#ifndef JITBPF_RUN_OUTPUTS_OUTPUT_STREAM_H
#define JITBPF_RUN_OUTPUTS_OUTPUT_STREAM_H

#include <stdbool.h>
#include <stdio.h>

#include "agent/outputs/output_opener.h"

/* It keeps the errno of a failed write, which stdio does not. */
struct output_stream {
	struct output_opener *opener; /* borrowed */
	struct opened_output file;
	int error;	   /* the first error, negative */
	bool said;	   /* no message about it is printed */
	bool of_recording; /* shows a recording, so writing one does not help */
};

/*
 * Create a stream with these values, and a FILE over it, whose fclose() closes the file. Takes over
 * values->file in all cases. Returns NULL if memory is short. The caller frees *ret after the FILE
 * is closed.
 */
FILE *output_stream_open(const struct output_stream *values, struct output_stream **ret);

#endif
