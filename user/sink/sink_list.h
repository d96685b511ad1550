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
	struct sink *sink; /* NULL after a failure */
	FILE *out;	   /* borrowed */
	int error;	   /* of the failure, or 0 */
};

/* Zero-initialized is empty. */
struct sink_list {
	VEC(struct sink_entry) sinks;
};

/* Add an output, one for each out. Returns 0 or -ENOMEM. */
int sink_list_add(struct sink_list *list, const struct sink_ops *ops, FILE *out);

/* Return true if some sink takes single samples, or changes of JIT code. */
bool sink_list_takes_samples(const struct sink_list *list);
bool sink_list_takes_code(const struct sink_list *list);

/* Pass a sample, or a change of JIT code, to the sinks that take them. */
void sink_list_sample(struct sink_list *list, const struct view *view,
		      const struct sink_sample *sample);
void sink_list_code(struct sink_list *list, const struct view *view, const struct sink_code *code);

/*
 * Write the output that was added with out. Returns 0, the first error of its
 * sink, or -EINVAL if there is none for out.
 */
int sink_list_finish(struct sink_list *list, const struct view *view, FILE *out);

void sink_list_deinit(struct sink_list *list);

#endif
