/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's names, asked of the kernel by a BPF program: /proc/kallsyms would
 * have to be read whole, has not what is loaded later, and may be hidden.
 */
#ifndef JITBPF_AGENT_KERNEL_KERNEL_NAMES_H
#define JITBPF_AGENT_KERNEL_KERNEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "symbolize/symbolizer.h"

/* A loaded bpf/kernel_names.bpf.c, borrowed: its program, and its variables as they are mapped. */
struct kernel_names {
	int program_fd;
	uint64_t *address;
	const char *words;
	size_t words_bytes;
};

/* As the symbolizer's source, for one thread at a time. *ret borrows names. */
void kernel_names_source(struct kernel_names *names, struct kernel_source *ret);

#endif
