/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `record --rotate`: a run that writes one recording after the other. Each begins with a snapshot
 * of the state, holds the samples of its own time, and replays alone.
 *
 * The files are named for the recording and the time at which each begins, in UTC:
 * profile.20261122T093000.123Z.jitbpf. A file of another run is never replaced.
 */
#ifndef JITBPF_RUN_OUTPUTS_ROTATION_H
#define JITBPF_RUN_OUTPUTS_ROTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/pipeline.h"
#include "run/outputs/outputs.h"

/* A complete file that may be deleted later, with output_opener_delete(). */
struct kept_file {
	uint32_t number;
	uint64_t bytes;
};

/* The values of --rotate and --keep. Zero-initialized: no rotation. */
struct rotation_options {
	const char *rotate;  /* the value as given, or NULL */
	uint32_t keep;	     /* files to keep; 0: all */
	uint64_t period_ns;  /* 0: no limit of time */
	uint64_t size_bytes; /* 0: no limit of size */
	uint64_t all_bytes;  /* limit of all files together; 0: none */
};

struct rotation_file {
	char *path;
	struct outputs outputs;
	struct recorder *recorder;
	uint64_t snapshot_bytes; /* that it begins with */
};

/* Totals of the files that are complete. */
struct rotation_totals {
	uint64_t files, samples, resolved, bytes;
	uint64_t pause_max_ns; /* longest time in which a rotation kept the rings from being drained
				*/
	uint64_t snapshot_max_bytes; /* the largest snapshot */
};

/* Without rotation if zero-initialized. */
struct rotation {
	const struct rotation_options *options; /* borrowed */
	const char *path;			/* of -o; borrowed */
	struct output_opener *opener;		/* borrowed */
	VEC(struct rotation_file) files; /* closing ones, oldest first, then the current one */
	VEC(struct kept_file) kept;	 /* complete ones that may be deleted, oldest first */
	uint64_t due_ns;		 /* CLOCK_MONOTONIC; the next rotation by time */
	uint64_t retry_ns;     /* no rotation before, after a file that failed; 0: none has */
	bool fails;	       /* the next file could not be created, and this was reported */
	uint64_t give_back_ns; /* when free memory may next be returned */
	int error;	       /* of the first file that was not completed, or 0 */
	struct rotation_totals totals;
};

/* Open the first file. Prints a message on errors. Returns 0 or a negative errno. */
int rotation_init(struct rotation *rotation, const struct rotation_options *options,
		  const char *path, struct output_opener *opener);

/* Returns the outputs of the current file. */
struct outputs *rotation_outputs(struct rotation *rotation);

/* Begin the current recording, described by info; its file gets its name now. */
int rotation_begin(struct rotation *rotation, const struct run_info *info);
struct recorder *rotation_recorder(const struct rotation *rotation);

/*
 * After each round: rotate if it is time to, and complete files whose epoch is complete. A file
 * that fails is reported, and replaced by another one. If the next file cannot be created, the
 * current one continues, and another is tried every 10 s. Returns 0 or -ENOMEM.
 */
int rotation_round(struct rotation *rotation, struct pipeline *pipeline);

/* Returns the size of all files that are open or kept. */
uint64_t rotation_bytes(const struct rotation *rotation);

/*
 * Delete the oldest completed file, to make room; if there is none, complete the current file
 * first. Returns false if no file was deleted, or if neither --keep nor --max-size was given.
 */
bool rotation_drop_oldest(struct rotation *rotation, struct pipeline *pipeline);

/*
 * After pipeline_finish(): complete all files. Returns 0, or the first error of any file of the
 * run.
 */
int rotation_finish(struct rotation *rotation, struct pipeline *pipeline);

/* Print the totals to standard error. */
void rotation_say(const struct rotation *rotation);

/* Close the current file. If it is incomplete, it is kept, and can be read up to its last round. */
void rotation_deinit(struct rotation *rotation);

#endif
