/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Access to the memory of processes, for one thread. */
#ifndef JITBPF_AGENT_FILES_MEMORY_SOURCE_H
#define JITBPF_AGENT_FILES_MEMORY_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/owner_budget.h"
#include "runtimes/runtime_reader.h"
#include "uapi/runtime_recipe.h"

/* Implemented by the file store, and by tests. */
struct memory_source {
	/*
	 * Copy memory of process pid, which has that owner, into buf, size_bytes or as much as can
	 * be read. Sets *ret_bytes, which is not 0. Returns 0 or a negative errno.
	 */
	int (*read)(void *context, uint32_t pid, struct owner_key owner, uint64_t address,
		    void *buf, size_t size_bytes, size_t *ret_bytes);
	/*
	 * Find executable memory that the process shares (shared_code.h): at most max ranges. Sets
	 * *ret_count. Returns 0; -ETIMEDOUT if the process holds its lock of it; or a negative
	 * errno. NULL: only recipes of runtimes need it.
	 */
	int (*shared_code)(void *context, uint32_t pid, struct runtime_range *ret, size_t max,
			   size_t *ret_count);
	/* The same for the code of a runtime whose file is mapped at an address (code_ranges.h). */
	int (*code_ranges)(void *context, uint32_t pid, uint64_t address,
			   struct runtime_code_range *ret, size_t max, size_t *ret_count);
	void *context;
	struct runtime_notes *notes; /* of readers, see struct process_memory; may be NULL */
};

#endif
