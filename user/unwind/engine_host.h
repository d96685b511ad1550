/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How JIT code is entered, for engines that do not enter their code by calls. */
#ifndef JITBPF_UNWIND_ENGINE_HOST_H
#define JITBPF_UNWIND_ENGINE_HOST_H

#include "engines/engines.h"
#include "state/process/module_table.h"

struct process;

/* Code that runs inside of a function of a file; or code of a virtual machine. */
struct engine_host {
	const struct module *module; /* NULL: the code is called, as with most engines */
	const char *function;	     /* the symbol in the module that the code is entered from */
	enum engine_frames frames;
};

/*
 * The host of the code that the module `publisher` reported in a process, by the file names that
 * engines/ knows. The host is the publisher itself or, if the publisher is a plug-in, the host that
 * the process mapped last, if both are of one engine. If publisher is NULL, the code was not
 * reported by a module (but by a jitdump file): any engine's host counts. The result borrows from
 * `modules`.
 */
struct engine_host engine_host_find(const struct process *process,
				    const struct module_table *modules,
				    const struct module *publisher);

#endif
