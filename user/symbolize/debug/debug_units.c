/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/debug/debug_units.h"

#include "base/scope.h"

int debug_units_init(struct debug_units *ret, const struct blob *blob, uint64_t text_start)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	int err;

	*ret = (struct debug_units){
		.budget = {.work_bytes = DEBUG_INFO_WORK_MAX,
			   .inflate_bytes = DEBUG_INFO_INFLATED_MAX},
	};
	err = elf_file_init_any(&elf, blob);
	err = err ?: dwarf_file_init(&ret->file, &elf, &ret->budget, NULL);
	return err ?: debug_index_init(&ret->index, &ret->file, text_start);
}

void debug_units_deinit(struct debug_units *units)
{
	vec_for_each (entry, &units->index.units)
		debug_unit_destroy(entry->unit);
	vec_deinit(&units->read);
	debug_index_deinit(&units->index);
	debug_splits_deinit(&units->splits);
	dwarf_file_deinit(&units->file);
}

void debug_units_drop_cache(struct debug_units *units)
{
	dwarf_file_drop_cache(&units->file);
	if (units->splits.package)
		dwarf_file_drop_cache(&units->splits.package->file);
	units->bytes = 0;
	vec_for_each (number, &units->read) {
		struct debug_unit *unit = units->index.units.data[*number].unit;

		if (unit->split)
			dwarf_file_drop_cache(&unit->split->file);
		units->bytes += debug_unit_bytes(unit);
	}
}

size_t debug_units_bytes(const struct debug_units *units)
{
	const struct debug_split *package = units->splits.package;

	return units->bytes + dwarf_file_bytes(&units->file) + debug_index_bytes(&units->index) +
	       (package ? sizeof(*package) + dwarf_file_bytes(&package->file) : 0);
}

void debug_units_begin(struct debug_units *units)
{
	units->calls++;
}

/* Returns the least recently used loaded unit, except those of the current call, or NULL. */
static uint32_t *find_oldest(struct debug_units *units)
{
	const struct debug_index_unit *all = units->index.units.data;
	uint32_t *oldest = NULL;

	vec_for_each (number, &units->read) {
		if (all[*number].used != units->calls &&
		    (!oldest || all[*number].used < all[*oldest].used))
			oldest = number;
	}
	return oldest;
}

/* Evict a unit. number points into units->read, and is removed from it. */
static void drop(struct debug_units *units, uint32_t *number)
{
	struct debug_index_unit *entry = &units->index.units.data[*number];

	units->bytes -= debug_unit_bytes(entry->unit);
	units->splits_open -= !!entry->unit->split;
	debug_unit_destroy(entry->unit);
	entry->unit = NULL;
	*number = units->read.data[--units->read.size];
}

void debug_units_end(struct debug_units *units)
{
	uint32_t *oldest;

	/* Units grow as they are used. */
	units->bytes = 0;
	vec_for_each (number, &units->read)
		units->bytes += debug_unit_bytes(units->index.units.data[*number].unit);
	while (units->bytes > DEBUG_UNITS_BYTES_MAX || units->splits_open > DEBUG_SPLITS_OPEN_MAX) {
		oldest = find_oldest(units);
		if (!oldest)
			return;
		drop(units, oldest);
	}
}

int debug_units_read(struct debug_units *units, struct debug_index_unit *entry,
		     struct debug_unit **ret)
{
	int err;

	if (entry->failed)
		return -EBADMSG;
	entry->used = units->calls;
	if (!entry->unit) {
		if (vec_reserve(&units->read, units->read.size + 1))
			return -ENOMEM;
		err = debug_unit_create(&units->file, entry->offset, &units->splits, &entry->unit);
		entry->failed = err && err != -ENOMEM;
		if (err)
			return err;
		units->read.data[units->read.size++] = (uint32_t)(entry - units->index.units.data);
		units->splits_open += !!entry->unit->split;
	}
	*ret = entry->unit;
	return 0;
}

int debug_units_complete(struct debug_units *units)
{
	size_t count = 0;
	int err = 0;

	if (units->index.complete)
		return 0;
	err = debug_index_complete(&units->index, &units->file);
	if (err)
		return err;
	/* As many units are loaded as before, under other numbers. */
	vec_for_each (entry, &units->index.units) {
		if (entry->unit)
			units->read.data[count++] = (uint32_t)(entry - units->index.units.data);
	}
	return 0;
}

int debug_units_at(struct debug_units *units, uint64_t offset, struct debug_unit **ret)
{
	struct debug_index_unit *entry;

	if (debug_units_complete(units))
		return -ENOMEM;
	entry = debug_index_at(&units->index, offset);
	return entry ? debug_units_read(units, entry, ret) : -ENOENT;
}
