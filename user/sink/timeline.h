/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples kept one by one, for formats that show each thread over time: 16 bytes
 * a sample. A thread is told apart by its process, not by the pid alone, which
 * another process may have later.
 */
#ifndef JITBPF_SINK_TIMELINE_H
#define JITBPF_SINK_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "sink/sink.h"

struct timeline_sample {
	uint64_t time_ns;
	uint32_t node;	 /* of the profile */
	uint32_t thread; /* number in order of appearance, which sorting does not change */
};

_Static_assert(sizeof(struct timeline_sample) == 16, "there are millions of them");

struct timeline_thread {
	uint32_t process; /* number, as in the profile */
	uint32_t pid, tid;
	uint32_t comm, process_comm; /* last names: numbers in the view's string pool */
	uint32_t earlier;	     /* processes before its own that had the same pid */
	uint32_t number;
	uint64_t first, count; /* its samples, once sorted: in order of time */
};

/* Zero-initialized is empty. */
struct timeline {
	VEC(struct timeline_sample) samples;
	VEC(struct timeline_thread) threads;
	struct index_map thread_index;
	VEC(uint32_t) processes; /* timeline_add()'s own: that of each node of the profile */
};

/* Keep a sample. Returns 0 or -ENOMEM. */
int timeline_add(struct timeline *timeline, const struct view *view,
		 const struct sink_sample *sample);

/*
 * The number of a thread that has done something else, even where no sample of it
 * comes: its name is its process's until one does. Returns 0 and sets *ret, or -ENOMEM.
 */
int timeline_thread_of(struct timeline *timeline, const struct sink_code *code, uint32_t *ret);

/*
 * Put the samples of each thread together, and the threads in order: by pid,
 * processes that shared one by age, the main thread first, then by tid. To be
 * called once, after the last sample. Returns 0 or -ENOMEM.
 */
int timeline_sort(struct timeline *timeline);

#define TIMELINE_PID_BYTES 24

/* A process's name among numbers: its pid, with ".1" for the second that had it, and so on. */
const char *timeline_pid(const struct timeline_thread *thread, char buffer[TIMELINE_PID_BYTES]);

void timeline_deinit(struct timeline *timeline);

#endif
