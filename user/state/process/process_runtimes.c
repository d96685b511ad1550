/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/process/process_runtimes.h"

#include <stddef.h>
#include <string.h>

static uint64_t index_of(const struct process_runtime *runtime)
{
	return runtime->number % ENGINE_NUMBERS;
}

/* Find or insert the runtime of the engine of a number. NULL: there is no room. */
static struct process_runtime *runtime_of(struct process_runtimes *runtimes,
					  const struct process_runtime *wanted)
{
	uint32_t at = 0;

	while (at < runtimes->count && index_of(&runtimes->runtimes[at]) < index_of(wanted))
		at++;
	if (at == runtimes->count || index_of(&runtimes->runtimes[at]) != index_of(wanted)) {
		if (runtimes->count == PROCESS_RUNTIMES_MAX)
			return NULL;
		memmove(&runtimes->runtimes[at + 1], &runtimes->runtimes[at],
			(runtimes->count - at) * sizeof(*wanted));
		runtimes->runtimes[at] = *wanted;
		runtimes->count++;
	}
	return &runtimes->runtimes[at];
}

void process_runtimes_map(struct process_runtimes *runtimes, const struct engine_file *file,
			  uint32_t module)
{
	const struct process_runtime wanted = {.number = engine_runtime_number(file),
					       .module = module,
					       .is_library = file->is_library};
	struct process_runtime *runtime;

	if (!wanted.number)
		return;
	runtime = runtime_of(runtimes, &wanted);
	if (!runtime)
		return;
	if (file->is_library || !runtime->is_library) {
		runtime->module = module;
		runtime->is_library = file->is_library;
	}
	if (engine_runtime_status(runtime->number) == ENGINE_NO_STATUS)
		runtime->number = wanted.number;
}

void process_runtimes_report(struct process_runtimes *runtimes, const struct jitbpf_runtime *record)
{
	struct engine_file file = {.engine = engine_by_name(record->name)};
	struct process_runtime wanted, *runtime;

	for (int i = 0; record->version[0] && i < ENGINE_VERSION_PARTS; i++) {
		if (record->version[i] > ENGINE_VERSION_PART_MAX)
			break;
		file.version.part[file.version.parts++] = record->version[i];
	}
	wanted = (struct process_runtime){.number = engine_runtime_number(&file),
					  .module = UINT32_MAX};
	runtime = wanted.number ? runtime_of(runtimes, &wanted) : NULL;
	if (!runtime)
		return;
	if (file.version.parts)
		runtime->number = wanted.number;
	runtime->number = engine_runtime_with_status(runtime->number, record->status);
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
