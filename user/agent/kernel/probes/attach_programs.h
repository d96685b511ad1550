/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The programs of bpf/attach.bpf.c, which attaching to probes needs. */
#ifndef JITBPF_AGENT_KERNEL_PROBES_ATTACH_PROGRAMS_H
#define JITBPF_AGENT_KERNEL_PROBES_ATTACH_PROGRAMS_H

#include <stdint.h>

#include "agent/kernel/bpf/program_types.h"

struct attach_bpf;
struct bpf_link;

struct attach_programs {
	struct attach_bpf *bpf;	  /* owned; NULL: not loaded */
	struct bpf_link *holders; /* owned; of find_lock_holders(). NULL: the kernel refuses it */
	int self_test_fd;	  /* a uprobe program that counts in *hits */
	volatile const uint64_t *hits;
};

/* Returns 0 or a negative errno; *ret is unchanged then. */
int attach_programs_load(const struct program_types *types, struct attach_programs *ret);
void attach_programs_destroy(struct attach_programs *programs);

/* Returns the descriptor of the link of find_lock_holders() (lock_holders.h), or -1. */
int attach_programs_gate(const struct attach_programs *programs);

#endif
