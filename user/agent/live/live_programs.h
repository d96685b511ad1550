/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opens the BPF programs, sets their constants, and loads them. */
#ifndef JITBPF_AGENT_LIVE_LIVE_PROGRAMS_H
#define JITBPF_AGENT_LIVE_LIVE_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/kernel/bpf/program_types.h"
#include "agent/live/live_filter.h"
#include "jitbpf.skel.h"

struct live_programs_options {
	int sample_rings_fd;	  /* the map of the sample rings; borrowed */
	size_t code_ring_bytes;	  /* powers of two, from a page on */
	size_t sample_ring_bytes; /* of each CPU */
	bool only_tracked;	  /* only processes that user space adds, and their children */
	bool user_regs;		  /* in every sample */
	bool many_events;	  /* perf events have the number of their event as cookie */
	const struct live_filter *filter; /* borrowed */
};

/* *ret is for jitbpf_bpf__destroy(). Returns 0 or a negative errno. */
int live_programs_load(const struct live_programs_options *options,
		       const struct program_types *types, struct jitbpf_bpf **ret);

#endif
