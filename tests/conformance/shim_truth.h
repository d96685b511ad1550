/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The expected frames of samples, and a sink that compares them with the actual frames. */
#ifndef JITBPF_TESTS_CONFORMANCE_SHIM_TRUTH_H
#define JITBPF_TESTS_CONFORMANCE_SHIM_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "sink/sink.h"
#include "tests/unit/state/code_text.h"

#define SHIM_PLACES	2
#define SHIM_TEXT_BYTES 1024

/* A sample with a pc, followed by return addresses. */
struct shim_query {
	uint64_t time_ns;
	size_t event; /* the latest event */
	bool known[SHIM_PLACES];
	char text[SHIM_PLACES][SHIM_TEXT_BYTES];
	char names[SHIM_PLACES][SHIM_TEXT_BYTES]; /* random_events_names() */
};

/*
 * A time in which known code may be unknown, but not wrong: all of a place,
 * some levels inlined there, or the region's name, source and line. The name
 * may also be that of a later report of the same method. If the journal was
 * full, an inlined method may also have been in a region that the journal
 * omitted.
 */
struct shim_doubt {
	uint64_t from_ns, to_ns;
	bool left_out;
};

struct shim_truth {
	VEC(struct shim_query) queries; /* in order of time */
	VEC(struct shim_doubt) doubts;
	size_t answered;
	uint64_t right, named, unknown, partial, wrong;
	char says[3 * SHIM_TEXT_BYTES]; /* description of the first difference */
};

void shim_truth_deinit(struct shim_truth *truth);

/* Both return 0 or -ENOMEM. */
int shim_truth_add(struct shim_truth *truth, const struct shim_query *query);
int shim_truth_doubt(struct shim_truth *truth, const struct shim_doubt *doubt);

/* Its "file" is the struct shim_truth. */
extern const struct sink_ops shim_truth_sink;

#endif
