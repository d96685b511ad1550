/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples counted by stack and thread, for formats that tell threads apart: the
 * profile itself knows processes only.
 */
#ifndef JITBPF_SINK_THREAD_COUNTS_H
#define JITBPF_SINK_THREAD_COUNTS_H

#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "sink/sink.h"

/* A thread under the name that it had. */
struct sampled_thread {
	uint32_t pid, tid;
	uint32_t comm; /* number in the view's string pool */
};

struct thread_count {
	uint32_t node;	 /* of the profile */
	uint32_t thread; /* index into threads */
	uint64_t samples;
};

_Static_assert(sizeof(struct thread_count) == 16, "there may be as many as samples");

/* In the order in which they came. Zero-initialized is empty. */
struct thread_counts {
	VEC(struct sampled_thread) threads;
	VEC(struct thread_count) counts;
	struct index_map thread_index, count_index;
};

/* Count a sample. Returns 0 or -ENOMEM. */
int thread_counts_add(struct thread_counts *counts, const struct sink_sample *sample);

void thread_counts_deinit(struct thread_counts *counts);

#endif
