/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random events through everything except the kernel. The real shim in this
 * process writes its journal and hits its probe. Records go from there to the
 * real pipeline, and the real reader reads lost events from the journal.
 * Samples at each moment are compared with the model.
 *
 * The kernel's part is simulated: the ring that loses records, the report of a
 * loss (bpf/jit.bpf.c) and the drains (user/agent/live/live_round.h).
 */
#ifndef JITBPF_TESTS_CONFORMANCE_SHIM_RUN_H
#define JITBPF_TESTS_CONFORMANCE_SHIM_RUN_H

#include <stdint.h>

#include "tests/shim/shim_fixture.h"

enum shim_path {
	SHIM_LIVE,  /* all events come by the probe */
	SHIM_LATE,  /* the profiler attaches after some events */
	SHIM_LOSSY, /* records of any event and any part are lost */
	SHIM_PATH_COUNT
};

struct shim_run_options {
	enum shim_path path;
	uint64_t seed;
	uint64_t journal_bytes; /* 0 for no journal; a multiple of pages */
	/*
	 * The journal is read right after the attach, without an event in
	 * between. Otherwise a small journal may already have dropped the
	 * parent of an inlined method.
	 */
	bool reads_at_once;
};

/* The results of a run, to verify that the test did something. */
struct shim_run_counts {
	uint64_t right;	  /* places equal to the model, including places without code */
	uint64_t named;	  /* of those, places with code */
	uint64_t unknown; /* places with code that may be unknown, and was */
	uint64_t partial; /* places where only a part of the code was known (shim_truth.h) */
	uint64_t lost;	  /* records */
	uint64_t late, recovered, gaps, unreadable;
	uint64_t compactions, left_out;
};

/*
 * Load the shim and run, in a process that has not loaded it and sends no other events. Returns 0,
 * or -1 after a message on stderr.
 */
int shim_run(const struct shim_run_options *options, struct shim_run_counts *ret);

#endif
