/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `record --stats FILE`: one line of JSON a second about jitbpf itself. Times are in seconds since
 * the start; memory, descriptors and CPU time are those of this process and its helpers.
 */
#ifndef JITBPF_RUN_SELF_STATS_H
#define JITBPF_RUN_SELF_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/live/loop_health.h"
#include "run/outputs/outputs.h"

struct self_stats {
	struct outputs output; /* empty: no statistics are wanted */
	FILE *file;
	uint64_t start_ns, next_ns;
};

/* Counts that the caller knows. */
struct self_counts {
	uint64_t files;	  /* kept files */
	uint64_t modules; /* mapped files with a number */
	uint64_t methods; /* JIT methods so far */
	uint64_t lost;	  /* samples and JIT records for which a ring had no room */
};

/*
 * Open the file, one of the paths that opener was created with (borrowed); path NULL: no
 * statistics. Prints a message on errors. Returns 0 or -errno.
 */
int self_stats_init(struct self_stats *ret, const char *path, struct output_opener *opener);

/* Publish the file: the recording begins. */
void self_stats_begin(struct self_stats *stats);

/* Returns true once a second, if statistics are wanted. */
bool self_stats_due(struct self_stats *stats, uint64_t now_ns);

/* Write a line. */
void self_stats_write(struct self_stats *stats, const struct self_counts *counts,
		      struct loop_health *health, uint64_t now_ns);

/* Returns 0 or the first error of writing, after a message. */
int self_stats_close(struct self_stats *stats);

/* Resources of a process, for the tests. */
struct self_usage {
	uint64_t rss_bytes;
	uint64_t descriptors;
	uint64_t cpu_ms;
	uint64_t processes;
};

/* Add this process, and its children that are processes of jitbpf, and theirs. */
void self_usage_add(struct self_usage *usage);

#endif
