/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Engines whose code runs in frames of a file that is not their own: PHP's, a plug-in of PHP. */
#ifndef JITBPF_UNWIND_ENGINE_HOST_H
#define JITBPF_UNWIND_ENGINE_HOST_H

#include "state/process/process_table.h"

/*
 * The file that may hold the interpreter of an engine, by its name, of those that the process
 * has mapped. NULL: its code is called, as with most engines.
 */
const struct module *engine_host(const struct process *process, const struct module_table *modules,
				 const struct module *engine);

#endif
