/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/intake/awaited_code.h"

#include "locate/code_site.h"
#include "state/process/process_code.h"

bool awaited_code_is_possible(const struct process *process)
{
	return process && process->mappings && process_code_is_late(process);
}

static bool is_missing(const struct process *process, uint64_t address, uint64_t time_ns)
{
	return code_site_at(process, address, time_ns).kind == LOCATION_ANON;
}

bool awaited_code_is_missing(const struct process *process, uint64_t address, uint64_t time_ns)
{
	return awaited_code_is_possible(process) && is_missing(process, address, time_ns);
}

uint64_t awaited_code_find(const struct process *process, const struct finished_stack *stack,
			   uint64_t time_ns)
{
	if (!awaited_code_is_possible(process))
		return 0;
	for (uint32_t i = 0; i < stack->count; i++) {
		uint64_t address = stack->words[i] - !!i;

		if (is_missing(process, address, time_ns))
			return address;
	}
	return 0;
}
