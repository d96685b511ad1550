/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Drives the stages: takes a source's records round by round, puts each round
 * into order of time, keeps the state, locates and counts every sample, has
 * locations named, and feeds the sinks. Owns all of the core's state; belongs
 * to one thread.
 */
#ifndef JITBPF_PIPELINE_PIPELINE_H
#define JITBPF_PIPELINE_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "unwind/unwind_tables.h"
#include "unwind/unwind_service.h"
#include "pipeline/recorder.h"
#include "pipeline/sample_filter.h"
#include "pipeline/source.h"
#include "sink/sink.h"
#include "symbolize/symbol_service.h"

struct pipeline; /* see pipeline_state.h */

struct pipeline_options {
	/* NULL: the default budget of a process. */
	const struct code_budget *budget;
	/* How to read line tables of JIT code. Borrowed; NULL: all are guessed at. */
	const struct code_line_rules *line_rules;
	/*
	 * Names native and kernel locations, unless the source's records bring the
	 * names along. NULL: they stay without. Used until pipeline_finish(); it is
	 * given modules that are the pipeline's, so that it ends before that does.
	 */
	const struct symbol_service *symbols;
	/*
	 * Rows for stacks that the source could not finish, and what the kernel is given of them.
	 * Copied; both NULL: such stacks stay cut. Neither is used by pipeline_destroy(), and the
	 * service ends before that, as it is given modules as well.
	 */
	const struct unwind_service *unwind_service;
	const struct unwind_tables *unwind_tables;
	/* NULL: all samples. Copied; what it borrows outlives the pipeline. */
	const struct sample_filter *filter;
	/* NULL: everything is shown. Copied. */
	const struct view_options *view;
};

/* Figures for a status line. */
struct pipeline_progress {
	uint64_t samples;
	uint64_t jit_methods;
	uint64_t code_unknown;
};

/* Returns 0 or -ENOMEM. */
int pipeline_create(const struct pipeline_options *options, struct pipeline **ret);
void pipeline_destroy(struct pipeline *pipeline);

/* What is recorded: copied. A recording's own INFO record replaces it. Returns 0 or -ENOMEM. */
int pipeline_set_info(struct pipeline *pipeline, const struct run_info *info);

/* Add an output, one for each out, before the first round. Borrows out until destroy. Returns 0 or
 * -ENOMEM. */
int pipeline_add_sink(struct pipeline *pipeline, const struct sink_ops *ops, FILE *out);

/*
 * Drain the source once. Where that ends a round, work off what happened before
 * the drain began; what is later waits for the next round, or the source's end.
 * Every record goes to recorder too, unless it is NULL; the recorder's own
 * failure does not stop the pipeline and is returned by pipeline_recorder_error().
 * Samples whose stacks are not whole wait for unwind rows, each for a second at most; all is
 * at an end with the source's end. Finished, they come in as of the next round, and so go to its
 * recorder.
 * Returns an enum source_state or negative errno. What precedes an error of the
 * source has been worked off.
 */
int pipeline_round(struct pipeline *pipeline, const struct source *source,
		   struct recorder *recorder);
int pipeline_recorder_error(const struct pipeline *pipeline);

/* Do stacks wait for unwind rows, or did some just now? Then the next round should come soon. */
bool pipeline_waits(const struct pipeline *pipeline);

/*
 * No more rounds: have every location named, complete the ledger. After it,
 * pipeline_view() is complete and pipeline_write() may be called.
 * Returns 0 or negative errno.
 */
int pipeline_finish(struct pipeline *pipeline);

/* Write the sink that was added with out. Returns 0 or its error. */
int pipeline_write(struct pipeline *pipeline, FILE *out);

struct pipeline_progress pipeline_progress(const struct pipeline *pipeline);
const struct view *pipeline_view(const struct pipeline *pipeline);
const struct module_table *pipeline_modules(const struct pipeline *pipeline);

#endif
