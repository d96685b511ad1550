/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CPython 3.9 to 3.14 with a global lock, on x86-64. */
#ifndef JITBPF_RUNTIMES_CPYTHON_CPYTHON_H
#define JITBPF_RUNTIMES_CPYTHON_CPYTHON_H

#include "runtimes/cpython/file.h"
#include "runtimes/runtime_reader.h"

/*
 * Frames are code objects. All threads of a process have one recipe, and keep their frames while
 * they have released the global lock. Its entries are frames up to 3.11, and marks from 3.12 on.
 */
extern const struct runtime_reader cpython_reader;

/* As cpython_reader.recipe(), for a file that was read before and is mapped at `bias`. */
int cpython_recipe(const struct cpython_file *file, uint64_t bias,
		   const struct process_memory *memory, struct runtime_recipe *ret,
		   struct runtime_layout *ret_layout, struct engine_version *ret_version);

#endif
