/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A source whose records come from the shim in this process, with the order and
 * the races of the live source, but without the kernel.
 */
#ifndef JITBPF_TESTS_CONFORMANCE_SHIM_SOURCE_H
#define JITBPF_TESTS_CONFORMANCE_SHIM_SOURCE_H

#include "agent/publisher/journal/journal_late.h"
#include "agent/publisher/journal/journal_recovery.h"
#include "pipeline/pipeline.h"
#include "tests/conformance/shim_run.h"
#include "tests/conformance/shim_truth.h"
#include "tests/unit/state/space_model.h"

struct shim_source_options {
	struct dice dice;
	bool loses;
	struct shim_truth *truth;
	/*
	 * Called during a drain, so that the engine sends events meanwhile.
	 * Returns 0 or a negative errno.
	 */
	int (*meanwhile)(void *context);
	void *meanwhile_context;
};

struct shim_source {
	struct shim_source_options options;
	struct source source;
	struct pipeline *pipeline;
	uint32_t pid;
	uint64_t start_ns, came_ns;
	bool has_journal, scanned, ready, stopped;
	VEC(struct jitbpf_record *) queue; /* owned */
	int failed;			   /* error in a hit, which cannot return it */
	uint32_t losing;		   /* number of hits that will be lost */
	bool has_loss;
	struct journal_loss loss;
	struct journal_late late;
	struct journal_recovery recovery;
	struct shim_run_counts counts;
	/* During a drain: the receiver of records. */
	record_taker_fn take;
	void *take_context;
};

/* Start to receive the shim's hits. One source at a time. Returns 0 or a negative errno. */
int shim_source_init(struct shim_source *source, const struct shim_source_options *options);
void shim_source_deinit(struct shim_source *source);

/* The profiler starts; the probe is attached after that. */
void shim_source_come(struct shim_source *source, uint64_t now_ns, bool has_journal);

/* Add a user stack in the shim's process. Returns 0 or -ENOMEM. */
int shim_source_sample(struct shim_source *source, uint64_t time_ns, const uint64_t *words,
		       uint16_t count);

/* Drain once and process the records. Returns an enum source_state or a negative errno. */
int shim_source_round(struct shim_source *source);

/* Finish after all samples were compared. Sets its part of *ret. Returns 0 or a negative errno. */
int shim_source_finish(struct shim_source *source, struct shim_run_counts *ret);

#endif
