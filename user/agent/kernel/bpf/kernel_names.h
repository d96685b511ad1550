/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of kernel addresses. A BPF program prints each address as a symbol (%pS). /proc/kallsyms
 * would have to be read as a whole, lacks modules that are loaded later, and may be hidden.
 */
#ifndef JITBPF_AGENT_KERNEL_BPF_KERNEL_NAMES_H
#define JITBPF_AGENT_KERNEL_BPF_KERNEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "symbolize/symbolizer.h"

/* The loaded program of bpf/kernel_names.bpf.c, and its mapped variables. Borrowed. */
struct kernel_names {
	int program_fd;
	uint64_t *address;
	const char *words;
	size_t words_bytes;
};

/* Set *ret to a source for the symbolizer, for one thread at a time. *ret borrows names. */
void kernel_names_source(struct kernel_names *names, struct kernel_source *ret);

#endif
