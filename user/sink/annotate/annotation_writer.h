/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of an annotation for a terminal. */
#ifndef JITBPF_SINK_ANNOTATE_ANNOTATION_WRITER_H
#define JITBPF_SINK_ANNOTATE_ANNOTATION_WRITER_H

#include "sink/annotate/annotation_output.h"
#include "sink/write/text.h"

#define NAME_COLUMNS  100
#define PLACE_COLUMNS 40

struct annotation_writer {
	const struct annotation *annotation;
	const struct annotation_output *options;
	struct text text;
	FILE *out;
	int error; /* of writing; 0: none */
};

/* End a line; write the text if there is much of it. */
void annotation_put_end(struct annotation_writer *w);

/* Put "file.c:12", or "no line". file: a string of the annotation. */
void annotation_put_place(struct annotation_writer *w, uint32_t file, uint32_t line);

/* Put the pieces of the function, and what is known of the one that is shown. */
void annotation_put_head(struct annotation_writer *w);

static inline double share_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Returns the samples that percentages are of. */
static inline uint64_t annotation_whole(const struct sampled_function *function)
{
	return function->kind == LOCATION_RUNTIME ? function->total : function->samples;
}

#endif
