/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The runtimes that the program of a process runs: CPython, a Java virtual machine, and so on. They
 * are known from the files that the program has mapped, since its exec: its own file and libraries,
 * also those that it loads later. A mapping takes constant time, since a module knows what it is.
 *
 * The kernel does not report the end of mappings, so a runtime stays until the next exec. A child
 * inherits the runtimes of its parent. A replay has the same mappings, so it agrees.
 */
#ifndef JITBPF_STATE_PROCESS_PROCESS_RUNTIMES_H
#define JITBPF_STATE_PROCESS_PROCESS_RUNTIMES_H

#include <stdint.h>

#include "engines/engines.h"
#include "uapi/record.h"

/*
 * Of a program, in the order of engines: a snapshot has mappings in another order than that in
 * which they were made. Further runtimes have no room.
 */
#define PROCESS_RUNTIMES_MAX 4

struct process_runtime {
	uint64_t number; /* its engine, version and status: engine_runtime_number() */
	/*
	 * Number of the library that was mapped last, or of the program, if the program has mapped
	 * no library; UINT32_MAX: none is known. A program that has the runtime in a library has a
	 * file name like one that has it in itself, and can be reported again later.
	 */
	uint32_t module;
	bool is_library; /* the module is one */
};

/* Zero-initialized is empty. */
struct process_runtimes {
	struct process_runtime runtimes[PROCESS_RUNTIMES_MAX];
	uint32_t count;
};

/*
 * The program has mapped a file, which is the module of that number. Once its functions have a
 * status, its version stays, too, since that was read from memory.
 */
void process_runtimes_map(struct process_runtimes *runtimes, const struct engine_file *file,
			  uint32_t module);

/* Apply what is reported of a runtime. */
void process_runtimes_report(struct process_runtimes *runtimes,
			     const struct jitbpf_runtime *record);

static inline const struct engine *process_runtime_engine(const struct process_runtime *runtime)
{
	return engine_of_runtime_number(runtime->number).engine;
}

/* Returns the runtime of an engine; with NULL, of the first engine with an entry symbol. Or NULL.
 */
const struct process_runtime *process_runtimes_find(const struct process_runtimes *runtimes,
						    const struct engine *engine);

#endif
