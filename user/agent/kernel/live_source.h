/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The live kernel as a source: BPF programs and their rings, the perf events'
 * side-band, and the scan of what was there before.
 *
 * Order of use: create, track (where only some processes count), drain until
 * live_source_ready(), start, drain until told to stop, stop, drain until SOURCE_END, destroy.
 * Write outputs before destroy: detaching probes takes the kernel a while.
 */
#ifndef JITBPF_AGENT_KERNEL_LIVE_SOURCE_H
#define JITBPF_AGENT_KERNEL_LIVE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/files/file_store.h"
#include "agent/publisher/probe_site.h"
#include "unwind/unwind_tables.h"
#include "pipeline/source.h"
#include "symbolize/symbolizer.h"

#define LIVE_ROUND_MS 50 /* drain at least this often; the rings hold several times as much */

struct live_options {
	uint32_t freq_hz;
	bool only_tracked; /* only processes given to live_source_track(), and their children */
	bool user_regs;
	size_t code_ring_bytes;	  /* rounded up to a power of two */
	size_t sample_ring_bytes; /* of each CPU; likewise */
};

struct live_source; /* see live_source.c */

/* What failed, and what to do about it, where there is something: one line. */
struct live_failure {
	char what[512];
	bool unsupported; /* this user, or this machine, cannot do it at all */
};

/*
 * Load the programs, open the events, attach the probe; nothing is sampled yet. Borrows files
 * and site. Returns 0, or negative errno with *failure set.
 */
int live_source_create(const struct live_options *options, const struct probe_site *site,
		       struct file_store *files, struct live_source **ret,
		       struct live_failure *failure);
void live_source_destroy(struct live_source *live);

/*
 * Profile a process and the children it will have; without only_tracked all are
 * anyway, and this does nothing. Returns 0 or negative errno.
 */
int live_source_track(struct live_source *live, uint32_t pid);

/* Has all that was there before been handed over? */
bool live_source_ready(const struct live_source *live);

/* From now on samples are taken. Returns 0, or negative errno with *failure. */
int live_source_start(struct live_source *live, struct live_failure *failure);

/* Take no more samples. The next drain hands over what is left, and the totals. */
void live_source_stop(struct live_source *live);

/* Readable when a ring wants to be drained before its time. Borrowed. */
int live_source_fd(const struct live_source *live);

/* "cycles" or "cpu-clock"; and how many CPUs are sampled. */
const char *live_source_event(const struct live_source *live);
uint32_t live_source_cpus(const struct live_source *live);

/* Samples and JIT records that found no room so far. */
uint64_t live_source_lost(const struct live_source *live);

/* *ret borrows live. */
void live_source_init_source(struct live_source *live, struct source *ret);

/* The kernel's names, for one thread at a time, whichever. *ret borrows live. */
void live_source_init_kernel_source(struct live_source *live, struct kernel_source *ret);

/* The tables by which the programs walk stacks. *ret borrows live. */
void live_source_init_unwind_tables(struct live_source *live, struct unwind_tables *ret);

#endif
