/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Engines whose JIT code runs in the stack frame of a host's function, such as PHP's opcache. */
#ifndef JITBPF_UNWIND_ENGINE_HOST_H
#define JITBPF_UNWIND_ENGINE_HOST_H

#include "state/process/process_table.h"

/*
 * Returns the module that may contain the interpreter for an engine, chosen by
 * name from the process's mappings. Returns NULL if the engine's code is called
 * normally, as with most engines.
 */
const struct module *engine_host(const struct process *process, const struct module_table *modules,
				 const struct module *engine);

#endif
