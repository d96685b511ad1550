/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/engine_host.h"

/* Returns the engine whose agent reported a region, or whose reader has found it, or NULL. */
static const struct engine *reporter_of(const struct code_region *region)
{
	const struct code_claim *found = code_region_claim(region, JITBPF_PUBLISHER_FOUND);

	if (found)
		return engine_of_code_number((uint32_t)found->origin.engine);
	for (int publisher = 0; publisher < JITBPF_PUBLISHER_COUNT; publisher++) {
		const struct engine *engine = engine_of_publisher(publisher);

		if (engine && code_region_claim(region, publisher))
			return engine;
	}
	return NULL;
}

enum engine_frames engine_host_frames(const struct code_region *region)
{
	const struct engine *engine = reporter_of(region);

	return engine && engine->frames ? engine->frames(region->name) : ENGINE_FRAMES_ANY;
}

static struct engine_host host_in(const struct module *module, const struct engine *engine)
{
	return (struct engine_host){.module = module, .function = engine->entry_symbol};
}

struct engine_host engine_host_find(const struct process *process,
				    const struct module_table *modules,
				    const struct code_region *region)
{
	const struct engine *engine = reporter_of(region);
	const struct module *publisher = NULL, *host;
	const struct process_runtime *runtime;
	uint32_t dso;

	if (engine)
		return (struct engine_host){.frames = engine_host_frames(region)};
	if (code_region_dso(region, &dso))
		publisher = module_table_get(modules, dso);
	if (!publisher && code_region_claim(region, JITBPF_PUBLISHER_SHIM))
		return (struct engine_host){0};
	if (publisher) {
		engine = publisher->file.engine;
		if (!engine || !engine->entry_symbol)
			return (struct engine_host){0};
		if (!publisher->file.is_plugin)
			return host_in(publisher, engine);
	}
	runtime = process_runtimes_find(process_runtimes_at(process, region->loaded_ns), engine);
	host = runtime ? module_table_get(modules, runtime->module) : NULL;
	return host ? host_in(host, process_runtime_engine(runtime)) : (struct engine_host){0};
}
