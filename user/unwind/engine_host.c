/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/engine_host.h"

#include <errno.h>

#include "engines/engines.h"
#include "state/process/process_table.h"

/* Bounds the search. A program is among its first mappings, a server's library soon after. */
#define MAPPINGS_MAX 4096

struct search {
	const struct module_table *modules;
	const struct engine *engine; /* NULL: any */
	const struct module *found;
	uint32_t left;
};

static int visit(void *context, const struct space_entry *entry)
{
	const struct mapping *mapping = (const struct mapping *)entry->value;
	struct search *search = context;
	const struct module *module = module_table_get(search->modules, mapping->module);
	const struct engine *engine = module ? engine_of_host(module->path) : NULL;

	if (!search->left--)
		return -EDQUOT;
	if (!engine || (search->engine && engine != search->engine))
		return 0;
	search->engine = engine;
	search->found = module;
	return -ECANCELED; /* stops the iteration */
}

struct engine_host engine_host_find(const struct process *process,
				    const struct module_table *modules,
				    const struct module *publisher)
{
	struct search search = {.modules = modules, .left = MAPPINGS_MAX};

	if (publisher) {
		search.engine = engine_of_host(publisher->path);
		if (search.engine)
			return (struct engine_host){.module = publisher,
						    .function = search.engine->entry_symbol};
		search.engine = engine_of_plugin(publisher->path);
		if (!search.engine)
			return (struct engine_host){0};
	}
	if (!process->mappings)
		return (struct engine_host){0};
	space_map_for_each(process->mappings, visit, &search);
	if (!search.found)
		return (struct engine_host){0};
	return (struct engine_host){.module = search.found,
				    .function = search.engine->entry_symbol};
}
