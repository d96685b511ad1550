/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/process/process_runtimes.h"

#include <stddef.h>

void process_runtimes_map(struct process_runtimes *runtimes, const struct engine_file *file,
			  uint32_t module)
{
	uint32_t at = 0;

	if (!file->engine || file->is_plugin)
		return;
	while (at < runtimes->count && runtimes->runtimes[at].file.engine != file->engine)
		at++;
	if (at == PROCESS_RUNTIMES_MAX)
		return;
	runtimes->runtimes[at] = (struct process_runtime){
		.file = *file, .number = engine_runtime_number(file), .module = module};
	if (at == runtimes->count)
		runtimes->count++;
}

const struct process_runtime *process_runtimes_find(const struct process_runtimes *runtimes,
						    const struct engine *engine)
{
	for (uint32_t i = 0; i < runtimes->count; i++) {
		const struct process_runtime *runtime = &runtimes->runtimes[i];

		if (engine ? runtime->file.engine == engine
			   : runtime->file.engine->entry_symbol != NULL)
			return runtime;
	}
	return NULL;
}
