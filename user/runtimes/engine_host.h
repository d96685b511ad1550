/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How JIT code of a process is entered, by the runtime that it belongs to. */
#ifndef JITBPF_RUNTIMES_ENGINE_HOST_H
#define JITBPF_RUNTIMES_ENGINE_HOST_H

#include "engines/engines.h"
#include "state/process/process_table.h"

/* Code that runs inside of a function of a file; or code of a virtual machine. */
struct engine_host {
	const struct module *module; /* NULL: the code is called, as with most engines */
	const char *function;	     /* the symbol in the module that the code is entered from */
	enum engine_frames frames;
};

/*
 * The host of a region of a process. Code that the agent of an engine reported is of that engine.
 * Other code may be hosted by a runtime of the process: by the module that reported it or, if that
 * is a plug-in of a runtime, by the runtime's file. If no module reported it (but a jitdump file),
 * the runtime of the process that hosts code does. The result borrows from `modules`.
 */
struct engine_host engine_host_find(const struct process *process,
				    const struct module_table *modules,
				    const struct code_region *region);

/* Returns how a region uses frames, as far as its name and publisher say. */
enum engine_frames engine_host_frames(const struct code_region *region);

#endif
