/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/engine_host.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"

/* PHP's program or server library is among the first mappings of a process. */
#define MAPPINGS_MAX 4096

struct search {
	const struct module_table *modules;
	const struct module *found;
	uint32_t left;
};

/* php8.2, php-fpm, frankenphp; libphp.so and mod_php.so in servers; but not phpiredis.so. */
static bool is_php(const char *path)
{
	const char *name = path_file(path);

	if (begins_with(name, "libphp") || begins_with(name, "mod_php"))
		return true;
	return strstr(name, "php") && !strstr(name, ".so");
}

static int look_at(void *context, const struct space_entry *entry)
{
	const struct mapping *mapping = (const struct mapping *)entry->value;
	struct search *search = context;
	const struct module *module = module_table_get(search->modules, mapping->module);

	if (!search->left--)
		return -EDQUOT;
	if (!module || !is_php(module->path))
		return 0;
	search->found = module;
	return -ECANCELED; /* stops the iteration */
}

const struct module *engine_host(const struct process *process, const struct module_table *modules,
				 const struct module *engine)
{
	struct search search = {.modules = modules, .left = MAPPINGS_MAX};

	if (!engine || is_php(engine->path))
		return engine;
	if (!begins_with(path_file(engine->path), "opcache.so") || !process->mappings)
		return NULL;
	space_map_for_each(process->mappings, look_at, &search);
	return search.found;
}
