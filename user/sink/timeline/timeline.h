/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Single samples by thread, for formats that show threads over time. A thread is identified by
 * process number and tid, since pids are reused.
 */
#ifndef JITBPF_SINK_TIMELINE_TIMELINE_H
#define JITBPF_SINK_TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "sink/sink.h"
#include "sink/timeline/packed_rows.h"
#include "sink/timeline/row_reader.h"

struct timeline_sample {
	uint64_t time_ns;
	uint32_t node; /* of the profile */
};

struct timeline_thread {
	uint32_t process; /* number, as in the profile */
	uint32_t pid, tid;
	uint32_t comm, process_comm; /* last names: string numbers of the view */
	uint32_t earlier;	     /* number of earlier processes with the same pid */
	uint32_t number;	     /* in order of appearance; sorting keeps it */
	struct packed_rows samples;  /* time, node */
};

/* Zero-initialized is empty. */
struct timeline {
	VEC(struct timeline_thread) threads;
	struct packed_memory memory; /* of threads and samples; the caller sets the limit */
	uint64_t left_out;	     /* samples for which there was no room, the last ones */
	VEC(uint8_t) used;	     /* by profile node: it has samples */
	struct index_map thread_index;
	VEC(uint32_t) processes; /* private to timeline_add(): process by profile node */
};

/* Add a sample, or count it as left out. Returns 0 or -ENOMEM. */
int timeline_add(struct timeline *timeline, const struct view *view,
		 const struct sink_sample *sample);

/*
 * Find or add the thread of a change of JIT code, which may have no samples. Until a sample comes,
 * it has the name of its process. Returns 0 with its number in *ret, -ENOMEM, or -EDQUOT (no room).
 */
int timeline_thread_of(struct timeline *timeline, const struct sink_code *code, uint32_t *ret);

/*
 * Sort the threads: by pid, by age of processes with one pid, the main thread first, then by tid.
 * Call it once, after the last sample.
 */
void timeline_sort(struct timeline *timeline);

/*
 * Read the next sample of a thread, in order of time (row_reader.h), after a row_reader_begin()
 * with its samples. Returns 1 with *ret set, 0 after the last one, or -ENOMEM.
 */
int timeline_next(struct row_reader *reader, struct timeline_sample *ret);

#define TIMELINE_PID_BYTES 24

/* Returns an unambiguous pid: "7", and "7.1" for the second process with that pid. */
const char *timeline_pid(const struct timeline_thread *thread, char buffer[TIMELINE_PID_BYTES]);

void timeline_deinit(struct timeline *timeline);

#endif
