/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/engine_host.h"

#include "engines/engines.h"
#include "state/process/process_table.h"

static struct engine_host host_in(const struct module *module, const struct engine *engine)
{
	return (struct engine_host){.module = module, .function = engine->entry_symbol};
}

struct engine_host engine_host_find(const struct process *process,
				    const struct module_table *modules,
				    const struct module *publisher)
{
	const struct engine *engine = publisher ? engine_of_host(publisher->path) : NULL, *of_host;
	const struct module *host;

	if (engine)
		return host_in(publisher, engine);
	host = process->host ? module_table_get(modules, process->host - 1) : NULL;
	of_host = host ? engine_of_host(host->path) : NULL;
	if (!of_host || (publisher && engine_of_plugin(publisher->path) != of_host))
		return (struct engine_host){0};
	return host_in(host, of_host);
}
