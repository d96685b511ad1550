/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/process/replaced_file.h"

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
		if (((const struct mapping *)entry.value)->module != MAPPING_ANON) {
			*ret = entry;
			return true;
		}
		if (!entry.from_ns)
			return false;
		time_ns = entry.from_ns - 1;
	}
	return false;
}
