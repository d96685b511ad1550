/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes an annotation: for a terminal, or as JSON. Names and source lines are untrusted; they are
 * shown without control characters.
 */
#ifndef JITBPF_SINK_ANNOTATE_ANNOTATION_OUTPUT_H
#define JITBPF_SINK_ANNOTATE_ANNOTATION_OUTPUT_H

#include <stdio.h>

#include "sink/annotate/annotation.h"
#include "sink/write/json.h"

/* Access to source files, with the rights of the user who runs the command. */
struct source_lines {
	/*
	 * Returns a line of a file, which need not end with a NUL, and sets *ret_bytes to its
	 * length without the line break. NULL: the line is not known. Borrowed until the next call.
	 */
	const char *(*line)(void *context, const char *path, uint32_t line, size_t *ret_bytes);
	/* Returns why no line of a file is known, or NULL. Borrowed as above. */
	const char *(*trouble)(void *context, const char *path);
	void *context;
};

/* The life of a generation. Times are CLOCK_MONOTONIC; 0: not known. */
struct generation {
	const struct sampled_function *function;
	uint64_t loaded_ns;
	uint64_t ended_ns; /* UINT64_MAX: it was live at the end of the recording */
};

/*
 * Set *ret to the life of a function. history: of the code of JIT functions (code_history.h);
 * NULL: not known.
 */
void generation_init(struct generation *ret, const struct view *view, const struct sink *history,
		     const struct sampled_function *function);

/* Sort by the time of the load. */
void generations_sort(struct generation *generations, size_t count);

/*
 * Returns the index of the generation that is shown after `last`, or first if `last` is count:
 * source lines of a runtime, then generations with more samples first. Returns count after the last
 * one.
 */
size_t generations_next(const struct generation *generations, size_t count, size_t last);

struct annotation_output {
	const struct view *view;
	uint64_t total; /* samples of the view */
	const struct generation *generations;
	size_t generation_count, shown;	    /* index of the annotated one */
	const struct source_lines *sources; /* NULL: lines have no text */
	bool is_further;		    /* behind another one of the same text, with the list */
	bool no_instructions;		    /* --lines */
	bool no_lines;			    /* --asm */
	bool all;			    /* also far from samples */
	bool colours;
};

/* Returns 0 or a negative errno. */
int annotation_write_text(FILE *out, const struct annotation *annotation,
			  const struct annotation_output *options);

/*
 * Write JSON to `out`, which json writes to: the function, with the list of all its code; then each
 * piece, whose options->shown is its index in that list; then the end. Return 0 or a negative
 * errno.
 */
void annotation_json_begin(struct json *json, const struct annotation_output *options);
int annotation_json_piece(struct json *json, const struct annotation *annotation,
			  const struct annotation_output *options);
int annotation_json_end(struct json *json, FILE *out);

/*
 * Write the functions of a list to choose from, in its order. Returns 0 or a negative errno.
 */
int annotation_write_choice(FILE *out, const struct function_samples *samples,
			    const function_list *list);

/* Returns a sentence about code that is not known, without a full stop; NULL: all is known. */
const char *annotation_lack_words(const struct annotation *annotation);

#endif
