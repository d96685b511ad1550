/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/runtimes/program_runtimes.h"

#include <errno.h>

#include "state/process/module_table.h"

#define SLOT_MASK ((1u << MODULE_SLOT_BITS) - 1)

/* Mappings without a file that are looked at: code made at low addresses is below the program. */
#define LOW_MAPPINGS_MAX 8

uint32_t program_module(const struct process *process)
{
	struct space_entry entry;
	uint64_t address = 0;

	/* Libraries are mapped above the program. */
	for (int i = 0; process->mappings && i < LOW_MAPPINGS_MAX &&
			space_map_next(process->mappings, address, &entry);
	     i++) {
		const struct mapping *mapping = (const struct mapping *)entry.value;

		if (mapping->module != MAPPING_ANON)
			return mapping->module;
		address = entry.end;
	}
	return MAPPING_ANON;
}

static struct program_runtime *entry_of(const struct program_runtimes *programs, uint32_t module)
{
	uint32_t slot = module & SLOT_MASK;
	struct program_runtime *entry =
		slot < programs->by_slot.size ? &programs->by_slot.data[slot] : NULL;

	return entry && entry->tries && entry->module == module ? entry : NULL;
}

void program_runtimes_sampled(struct program_runtimes *programs, const struct process *process,
			      uint32_t module)
{
	const struct program_runtime *entry = entry_of(programs, module);

	if (!entry || entry->is_asked || entry->engine || entry->tries < PROGRAM_RUNTIME_TRIES)
		return;
	while (programs->plain.size <= process->slot) {
		if (vec_push(&programs->plain, 0))
			return; /* its samples are looked at */
	}
	programs->plain.data[process->slot] = process->number + 1ull;
}

void program_runtimes_changed(struct program_runtimes *programs, const struct process *process)
{
	if (process->slot < programs->plain.size)
		programs->plain.data[process->slot] = 0;
}

const struct engine *program_runtimes_find(const struct program_runtimes *programs, uint32_t module)
{
	const struct program_runtime *entry = entry_of(programs, module);

	return entry ? entry->engine : NULL;
}

bool program_runtimes_may_ask(const struct program_runtimes *programs, uint32_t module)
{
	const struct program_runtime *entry = entry_of(programs, module);

	return !entry || (!entry->is_asked && entry->tries < PROGRAM_RUNTIME_TRIES);
}

int program_runtimes_asked(struct program_runtimes *programs, uint32_t module)
{
	struct program_runtime *entry = entry_of(programs, module);

	while (programs->by_slot.size <= (module & SLOT_MASK)) {
		if (vec_push(&programs->by_slot, ((struct program_runtime){0})))
			return -ENOMEM;
	}
	if (!entry) {
		entry = &programs->by_slot.data[module & SLOT_MASK];
		*entry = (struct program_runtime){.module = module};
	}
	entry->is_asked = true;
	entry->tries++;
	return 0;
}

void program_runtimes_take(struct program_runtimes *programs, uint32_t module,
			   const struct engine *engine, int error)
{
	struct program_runtime *entry = entry_of(programs, module);

	if (!entry)
		return;
	entry->is_asked = false;
	entry->engine = error ? NULL : engine;
	if (error != -ETIMEDOUT && error != -EAGAIN)
		entry->tries = PROGRAM_RUNTIME_TRIES;
}

void program_runtimes_deinit(struct program_runtimes *programs)
{
	vec_deinit(&programs->by_slot);
	vec_deinit(&programs->plain);
}
