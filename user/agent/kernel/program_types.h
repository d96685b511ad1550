/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What loading BPF programs needs to know about the kernel, found once for all objects: its types,
 * and what it offers, by trial. While the types are open, libbpf knows the section
 * JITBPF_TASK_ITERATOR.
 */
#ifndef JITBPF_AGENT_KERNEL_PROGRAM_TYPES_H
#define JITBPF_AGENT_KERNEL_PROGRAM_TYPES_H

#include <stdbool.h>

struct program_types {
	int fd;		   /* of the reduced types; -1: none */
	int handler;	   /* libbpf's, of the section; negative: none */
	bool uprobe_multi; /* there are links of this kind */
	/* Programs of perf events may use hash maps that are not preallocated (from Linux 6.1). */
	bool hashes_on_demand;
};

#define PROGRAM_TYPES_NONE ((struct program_types){.fd = -1, .handler = -1})

/*
 * Returns 0 or a negative errno; *ret is unchanged then. The owner closes it after the last object
 * is loaded.
 */
int program_types_open(struct program_types *ret);
void program_types_close(struct program_types *types);

/*
 * Call load() with the path of the reduced types and, if this version of libbpf refuses them, again
 * with NULL: libbpf then reads all types of the kernel, which is only slower. load() opens and
 * loads an object. Returns what load() returns.
 */
int program_types_load(const struct program_types *types,
		       int (*load)(void *context, const char *types_path), void *context);

#endif
