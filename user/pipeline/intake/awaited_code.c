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

bool awaited_code_is_missing(const struct process *process, const struct intake_deferred *deferred)
{
	return deferred->awaited && awaited_code_is_possible(process) &&
	       is_missing(process, deferred->awaited, deferred->sample->h.time_ns);
}

static int charge(struct owner_budget *budget, const struct process *process,
		  struct intake_deferred *deferred)
{
	struct budget_owner *owner;
	int err;

	if (deferred->owner)
		return 0;
	err = owner_budget_get(budget, process_owner_key(&process->owner), &owner);
	if (err)
		return err;
	err = owner_budget_charge(budget, owner, deferred->sample->h.size_bytes);
	if (err)
		owner_budget_put(budget, owner);
	else
		deferred->owner = owner;
	return err;
}

int awaited_code_begin(struct owner_budget *budget, const struct process *process,
		       const struct finished_stack *stack, struct intake_deferred *deferred)
{
	deferred->awaited = 0;
	if (!awaited_code_is_possible(process))
		return 0;
	for (uint32_t i = 0; i < stack->count; i++) {
		uint64_t address = stack->ips[i] - !!i;
		int err;

		if (!is_missing(process, address, deferred->sample->h.time_ns))
			continue;
		err = charge(budget, process, deferred);
		if (err)
			return err;
		deferred->awaited = address;
		return 1;
	}
	return 0;
}

void awaited_code_end(struct owner_budget *budget, struct intake_deferred *deferred)
{
	if (!deferred->owner)
		return;
	owner_budget_release(budget, deferred->owner, deferred->sample->h.size_bytes);
	owner_budget_put(budget, deferred->owner);
	deferred->owner = NULL;
}
