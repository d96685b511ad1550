/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The outputs of a run. A failure stays with its output: a sink that fails is
 * destroyed at once and gets no more calls, and sink_list_finish() returns its
 * error. All other outputs are completed.
 */
#ifndef JITBPF_SINK_SINK_LIST_H
#define JITBPF_SINK_SINK_LIST_H

#include <stdbool.h>
#include <stdio.h>

#include "base/vec.h"
#include "sink/sink.h"

struct sink_entry {
	const struct sink_ops *ops;
	struct sink *sink;  /* NULL after a failure */
	FILE *out;	    /* borrowed; NULL for a live view */
	int error;	    /* of the failure, or 0 */
	uint64_t period_ns; /* of round(); 0: no subscription */
	uint64_t due_ns;    /* time of the next round() */
	bool again;	    /* round() has requested a call after the next round */
};

/* Zero-initialized is empty. */
struct sink_list {
	VEC(struct sink_entry) sinks;
};

/* Add an output, one for each out. Returns 0 or -ENOMEM. */
int sink_list_add(struct sink_list *list, const struct sink_ops *ops, FILE *out);

/*
 * Add a live view: an existing sink that gets samples and rounds while it has a subscription. Takes
 * the sink over, also on failure. Returns 0 or -ENOMEM.
 */
int sink_list_add_live(struct sink_list *list, const struct sink_ops *ops, struct sink *sink);

/*
 * Subscribe: call round() of a live view every period_ns, from the next round on; 0 ends the
 * subscription. Returns 0, or -ENOENT if the sink is unknown or has failed.
 */
int sink_list_subscribe(struct sink_list *list, const struct sink *sink, uint64_t period_ns);

/* Returns true if some round() is due. */
bool sink_list_round_due(const struct sink_list *list, uint64_t time_ns);

/* Make the round() of all live views due, whatever their periods are. */
void sink_list_all_due(struct sink_list *list);

/*
 * Show a view to the sinks whose round() is due; then, after the last view of
 * this round, note when the next one is. sink_list_end_round() returns true if
 * some sink has requested another call.
 */
void sink_list_round(struct sink_list *list, const struct view *view, uint64_t time_ns);
bool sink_list_end_round(struct sink_list *list, uint64_t time_ns);

/* Return true if some sink needs changes of JIT code, or changes of its regions. */
bool sink_list_takes_code(const struct sink_list *list);
bool sink_list_takes_regions(const struct sink_list *list);

/* Returns true if some sink reads view.slices, also a live view without a subscription. */
bool sink_list_reads_slices(const struct sink_list *list);

/* Pass a sample, a change of JIT code, or of a region, to the sinks that take them. */
void sink_list_sample(struct sink_list *list, const struct view *view,
		      const struct sink_sample *sample);
void sink_list_code(struct sink_list *list, const struct view *view, const struct sink_code *code);
void sink_list_region(struct sink_list *list, const struct view *view,
		      const struct sink_region *change);

/*
 * Write the output that was added with out. Returns 0, the first error of its
 * sink, or -EINVAL if there is none for out.
 */
int sink_list_finish(struct sink_list *list, const struct view *view, FILE *out);

/* Returns how many samples that output left out; 0 after a failure. */
uint64_t sink_list_left_out(const struct sink_list *list, const FILE *out);

void sink_list_deinit(struct sink_list *list);

#endif
