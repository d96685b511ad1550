/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of a process for a reader of its runtime, through a memory source: in pages, since
 * what a reader reads is small and near to each other, and within a budget.
 */
#ifndef JITBPF_AGENT_WORKERS_RUNTIME_MEMORY_H
#define JITBPF_AGENT_WORKERS_RUNTIME_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "agent/files/memory_source.h"
#include "runtimes/process_memory.h"

#define RUNTIME_MEMORY_PAGE_BYTES 4096
#define RUNTIME_MEMORY_PAGES	  8
#define RUNTIME_MEMORY_READS_MAX  1024 /* of the source, for one request */

struct runtime_memory_page {
	uint64_t address; /* 0: none */
	uint64_t used;	  /* number of the last read that has used it */
	uint8_t bytes[RUNTIME_MEMORY_PAGE_BYTES];
};

/* For one request. Zero-initialized but for the first four members. */
struct runtime_memory {
	const struct memory_source *source; /* borrowed */
	uint32_t pid;
	struct owner_key owner;
	uint64_t note_owner;
	uint32_t source_reads;
	uint64_t reads;
	/*
	 * 0, or the first error of the source but -EFAULT, or -E2BIG: too many reads. Nothing is
	 * read any more then: a page that blocks costs one answer's limit, not one for each read.
	 */
	int failed;
	struct runtime_memory_page pages[RUNTIME_MEMORY_PAGES];
};

/* Returns the memory as readers use it; borrows *memory. */
struct process_memory runtime_memory_of(struct runtime_memory *memory);

#endif
