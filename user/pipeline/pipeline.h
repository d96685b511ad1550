/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A run: intake, recorder and analysis wired together.
 *
 *   live source ─► intake ─┬─► recorder
 *   recording ─────────────┴─► analysis
 *
 * Single-threaded.
 */
#ifndef JITBPF_PIPELINE_PIPELINE_H
#define JITBPF_PIPELINE_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pipeline/analysis/analysis.h"
#include "pipeline/intake/text_source.h"
#include "pipeline/record/recorder.h"
#include "pipeline/source.h"
#include "unwind/tables/unwind_tables.h"
#include "unwind/unwind_service.h"

struct pipeline; /* see pipeline_state.h */

struct pipeline_options {
	struct analysis_options analysis;
	/* As in struct intake_options; both NULL if stacks are not to be completed. */
	const struct unwind_service *unwind_service;
	const struct unwind_tables *unwind_tables;
	const struct text_source *texts; /* as in struct intake_options */
	bool keep_code;			 /* as in struct intake_options */
	uint64_t code_bytes;		 /* the same */
	bool record_code;		 /* the recorders get the code that is kept */
};

/* Returns 0 or -ENOMEM. */
int pipeline_create(const struct pipeline_options *options, struct pipeline **ret);
void pipeline_destroy(struct pipeline *pipeline); /* NULL is allowed */

/*
 * Drain the source once: through intake or, if the source's records are finished, directly. Every
 * record goes to the recorder first (NULL: none). A failure of the recorder does not stop the run;
 * pipeline_recorder_error() returns it.
 *
 * Returns an enum source_state or negative errno. The records before an error of the source have
 * been applied.
 */
int pipeline_round(struct pipeline *pipeline, const struct source *source,
		   struct recorder *recorder);
int pipeline_recorder_error(const struct pipeline *pipeline);

/* Returns true while samples are deferred and shortly after: the next round should come soon. */
bool pipeline_waits(const struct pipeline *pipeline);

/* See intake_is_urgent(). */
bool pipeline_is_urgent(const struct pipeline *pipeline);

/*
 * Rotation: close the current epoch, which `recorder` records, as of the last round. Write a
 * snapshot of the state to `next`, which is then passed to pipeline_round(). The closing recorder
 * is borrowed until pipeline_complete_epoch() returns it: it still gets deferred samples, and late
 * records of its time.
 *
 * Returns 0 or a negative errno of the analysis. A failure of `next` is handled as in a round.
 */
int pipeline_rotate(struct pipeline *pipeline, struct recorder *recorder, struct recorder *next,
		    const struct run_info *info);

struct pipeline_epoch {
	struct recorder *recorder; /* to be finished with view, unless it has failed */
	const struct view *view;   /* valid until pipeline_drop_epoch() */
	int recorder_error;	   /* 0, or the error of the recorder */
};

/*
 * Return the oldest closing epoch if it is complete or, with `now`, in any case. Returns 1 with
 * *ret set, 0 if there is none, or a negative errno.
 */
int pipeline_complete_epoch(struct pipeline *pipeline, bool now, struct pipeline_epoch *ret);

/* Free the epoch that pipeline_complete_epoch() returned. */
void pipeline_drop_epoch(struct pipeline *pipeline);

/* See the functions of the same names in analysis.h. */
int pipeline_set_info(struct pipeline *pipeline, const struct run_info *info);
int pipeline_add_sink(struct pipeline *pipeline, const struct sink_ops *ops, FILE *out);
void pipeline_leave_memory(struct pipeline *pipeline, uint32_t times);
int pipeline_add_live(struct pipeline *pipeline, const struct sink_ops *ops, struct sink *sink);
int pipeline_subscribe(struct pipeline *pipeline, const struct sink *sink, uint64_t period_ns);
void pipeline_unsubscribe(struct pipeline *pipeline, const struct sink *sink);
int pipeline_finish(struct pipeline *pipeline);
void pipeline_close(struct pipeline *pipeline);
int pipeline_write(struct pipeline *pipeline, FILE *out);
uint64_t pipeline_left_out(const struct pipeline *pipeline, FILE *out);

/* Fit outputs that are written from now on to a terminal: see view_options. */
void pipeline_set_screen(struct pipeline *pipeline, uint32_t columns, bool colours);

void pipeline_set_packages(struct pipeline *pipeline, const struct file_packages *packages);

struct analysis_progress pipeline_progress(const struct pipeline *pipeline);
const struct view *pipeline_view(const struct pipeline *pipeline);
const struct view *pipeline_shown_view(struct pipeline *pipeline);

/* The same of the event of a number; of CPU time if the run has no such event. */
const struct view *pipeline_event_view(struct pipeline *pipeline, uint32_t event);
bool pipeline_has_event(const struct pipeline *pipeline, const char *name);
bool pipeline_wants_names(const struct pipeline *pipeline);
int pipeline_read_names(struct pipeline *pipeline, const struct jitbpf_record *record);
const struct module_table *pipeline_modules(const struct pipeline *pipeline);

#endif
