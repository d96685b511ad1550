/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processes, functions and frames of a view, as far as a filter shows them. A model is filled
 * again when the view has changed; labels keep their numbers.
 */
#ifndef JITBPF_SINK_TOP_TOP_MODEL_H
#define JITBPF_SINK_TOP_TOP_MODEL_H

#include <regex.h>

#include "sink/top/top_rows.h"

/* Zero-initialized: everything is shown. */
struct top_filter {
	uint32_t pid, tid;   /* 0: all */
	const regex_t *comm; /* of processes or threads; NULL: all */
	/* Only samples of the last window_ns, within a tick of time_slices.h; 0: all. */
	uint64_t window_ns;
};

/* The owner calls top_model_deinit(). Numbers of tree nodes are valid until it is filled again. */
struct top_model {
	struct label_table labels;
	struct frame_tree tree;
	uint64_t *paths; /* by tree node: identifies the path of its labels */
	function_table functions;
	VEC(struct top_process) processes; /* with samples */
	uint64_t samples;
	/* By event, and by count of its view: samples that are not shown. */
	VEC(uint64_t) before[JITBPF_EVENTS_MAX];
};

/* Returns 0 or -ENOMEM; the caller calls top_model_deinit() in both cases. */
int top_model_init(struct top_model *model);
void top_model_deinit(struct top_model *model);

/*
 * Fill it. The view's options apply; its roots must not be threads (VIEW_BY_TID). Returns 0 or
 * -ENOMEM; then the model has no samples.
 */
int top_model_fill(struct top_model *model, const struct view *view,
		   const struct top_filter *filter);

/* Show only samples of all events from now on; or all again. Returns 0 or -ENOMEM. */
int top_model_begin_anew(struct top_model *model, const struct view *view);
void top_model_show_all(struct top_model *model);

#endif
