/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/process/process_runtimes.h"

#include <stddef.h>
#include <string.h>

static uint64_t index_of(const struct process_runtime *runtime)
{
	return runtime->number % ENGINE_NUMBERS;
}

void process_runtimes_map(struct process_runtimes *runtimes, const struct engine_file *file,
			  uint32_t module)
{
	struct process_runtime runtime = {.number = engine_runtime_number(file), .module = module};
	uint32_t at = 0;

	if (!runtime.number)
		return;
	while (at < runtimes->count && index_of(&runtimes->runtimes[at]) < index_of(&runtime))
		at++;
	if (at == runtimes->count || index_of(&runtimes->runtimes[at]) != index_of(&runtime)) {
		if (runtimes->count == PROCESS_RUNTIMES_MAX)
			return;
		memmove(&runtimes->runtimes[at + 1], &runtimes->runtimes[at],
			(runtimes->count - at) * sizeof(runtime));
		runtimes->count++;
	}
	runtimes->runtimes[at] = runtime;
}

const struct process_runtime *process_runtimes_find(const struct process_runtimes *runtimes,
						    const struct engine *engine)
{
	for (uint32_t i = 0; i < runtimes->count; i++) {
		const struct process_runtime *runtime = &runtimes->runtimes[i];

		const struct engine *one = process_runtime_engine(runtime);

		if (engine ? one == engine : one->entry_symbol != NULL)
			return runtime;
	}
	return NULL;
}
