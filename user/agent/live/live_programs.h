/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opens the BPF programs, sets their constants, and loads them. */
#ifndef JITBPF_AGENT_LIVE_LIVE_PROGRAMS_H
#define JITBPF_AGENT_LIVE_LIVE_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "jitbpf.skel.h"

struct live_programs_options {
	size_t code_ring_bytes;	  /* powers of two, from a page on */
	size_t sample_ring_bytes; /* of each CPU */
	bool only_tracked;	  /* only processes that user space adds, and their children */
	bool user_regs;		  /* in every sample */
};

/* *ret is for jitbpf_bpf__destroy(). Returns 0 or a negative errno. */
int live_programs_load(const struct live_programs_options *options, struct jitbpf_bpf **ret);

#endif
