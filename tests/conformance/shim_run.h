/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random events through all but the kernel: the real shim in this process writes
 * its journal and hits its probe, from where records go into the real pipeline, and
 * what is missing there is read from the journal by the real reader. Samples of each
 * moment are compared with the model's answer.
 *
 * What the kernel and its side of the agent do stands here: the ring that loses
 * records, the note of a loss (bpf/jit.bpf.c), the drains (user/agent/kernel/live_drain.c).
 */
#ifndef JITBPF_TESTS_CONFORMANCE_SHIM_RUN_H
#define JITBPF_TESTS_CONFORMANCE_SHIM_RUN_H

#include <stdint.h>

#include "tests/shim/shim_fixture.h"

enum shim_path {
	SHIM_LIVE,  /* everything comes by the probe */
	SHIM_LATE,  /* the profiler comes when the process has run for a while */
	SHIM_LOSSY, /* records are lost, of any event and any part of it */
	SHIM_PATH_COUNT
};

struct shim_run_options {
	enum shim_path path;
	uint64_t seed;
	uint64_t journal_bytes; /* 0: none; a multiple of pages */
	/*
	 * The journal is read when the profiler comes, without an event in between. Else
	 * the parent of what is inlined then may be gone from a journal that drops much.
	 */
	bool reads_at_once;
};

/* What a run did; a test that does nothing cannot fail. */
struct shim_run_counts {
	uint64_t right;	  /* places that were as the model has them, no code among them */
	uint64_t named;	  /* of those: where there is code */
	uint64_t unknown; /* where there is code, but it may be unknown, and was */
	uint64_t partial; /* where only a part of it was known (shim_truth.h) */
	uint64_t lost;	  /* records */
	uint64_t late, recovered, gaps, unreadable;
	uint64_t compactions, left_out;
};

/*
 * In a process that has sent no event yet, and sends no others. Returns 0, or -1 after
 * telling on stderr what disagrees.
 */
int shim_run(const struct shim *shim, const struct shim_run_options *options,
	     struct shim_run_counts *ret);

#endif
