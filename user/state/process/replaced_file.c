/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/process/replaced_file.h"

#include "base/text.h"

static bool is_file(const struct mapping *mapping)
{
	const struct module *module;

	if (mapping->module == MAPPING_ANON)
		return false;
	module = module_table_get(mapping->modules, mapping->module);
	return !module || !begins_with(module->path, HUGE_MEMORY_PATH);
}

bool replaced_file_find(const struct process *process, uint64_t address, uint64_t time_ns,
			struct space_entry *ret)
{
	uint64_t program_ns = process_program_at(process, time_ns);
	struct space_entry entry;

	if (!process->mappings)
		return false;
	for (uint32_t i = 0; i < REPLACED_FILE_STEPS; i++) {
		if (!space_map_find(process->mappings, address, time_ns, &entry) ||
		    entry.from_ns < program_ns)
			return false;
		if (is_file((const struct mapping *)entry.value)) {
			*ret = entry;
			return true;
		}
		if (!entry.from_ns)
			return false;
		time_ns = entry.from_ns - 1;
	}
	return false;
}
