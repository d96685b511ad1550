/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/tables/mapping_list.h"

#include <errno.h>

#include "locate/code_site.h"
#include "state/process/process_code.h"

struct filling {
	struct mapping_list *list;
	const struct process *process;
	const struct module_table *modules;
	uint32_t *budget;
};

static bool holds_code(const struct process *process, const struct space_entry *entry)
{
	const struct mapping *mapping = (const struct mapping *)entry->value;
	uint64_t address = entry->start, end;

	if (mapping->module == MAPPING_ANON)
		return true;
	/*
	 * Visit up to 8 regions and gaps, up to the first JIT code. If there are more, assume that
	 * the mapping contains JIT code.
	 */
	for (int i = 0; i < 8 && address < entry->end; i++, address = end) {
		if (code_site_now(process, address, &end).kind == LOCATION_JIT)
			return true;
	}
	return address < entry->end;
}

static void add(struct mapping_list *list, struct unwind_mapping mapping)
{
	struct unwind_mapping *last = list->count ? &list->mappings[list->count - 1] : NULL;

	if (last && last->end == mapping.start && last->owner == mapping.owner &&
	    last->offset + (last->end - last->start) == mapping.offset) {
		last->end = mapping.end;
		return;
	}
	if (list->count == list->max)
		list->left_out++;
	else
		list->mappings[list->count++] = mapping;
}

static int fill(void *context, const struct space_entry *entry)
{
	const struct mapping *mapping = (const struct mapping *)entry->value;
	struct filling *filling = context;
	struct unwind_mapping out = {.start = entry->start, .end = entry->end};

	if (!*filling->budget)
		return -EDQUOT;
	--*filling->budget;
	if (entry->end > USER_ADDRESS_END)
		return 0;
	if (holds_code(filling->process, entry)) {
		out.offset = entry->start;
		out.owner = unwind_code_owner(filling->process);
	} else {
		const struct module *rest = filling->modules->rest;

		out.offset = entry->start - mapping->address + mapping->file_offset;
		out.owner = mapping->module;
		if ((rest && rest->number == out.owner) || !unwind_offset_fits(out.offset) ||
		    !unwind_offset_fits(out.offset + (out.end - out.start)))
			return 0;
	}
	add(filling->list, out);
	return 0;
}

int mapping_list_fill(struct mapping_list *list, const struct process *process,
		      const struct module_table *modules, uint32_t *budget)
{
	struct filling filling = {
		.list = list, .process = process, .modules = modules, .budget = budget};

	return process->mappings ? space_map_for_each(process->mappings, fill, &filling) : 0;
}

struct summing {
	uint64_t sum;
	uint32_t *budget;
};

static int add_generation(void *context, const struct space_entry *entry)
{
	const struct mapping *mapping = (const struct mapping *)entry->value;
	struct summing *summing = context;

	if (!*summing->budget)
		return -EDQUOT;
	--*summing->budget;
	if (mapping->shared)
		summing->sum +=
			1 +
			(mapping->shared->code ? code_map_generation(mapping->shared->code) : 0);
	return 0;
}

int process_shared_generation(const struct process *process, uint32_t *budget, uint64_t *ret)
{
	struct summing summing = {.budget = budget};
	int err = 0;

	if (process->mappings)
		err = space_map_for_each(process->mappings, add_generation, &summing);
	if (!err)
		*ret = summing.sum;
	return err;
}
