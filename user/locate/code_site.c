/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "locate/code_site.h"

#include "runtimes/engine_host.h"
#include "state/process/process_code.h"

/*
 * JIT code lies in memory of its own, so a file that was mapped there after the
 * load has replaced it. The kernel reports new mappings, but not removed ones.
 */
static bool replaced_by_file(const struct code_region *region, const struct mapping *mapping)
{
	return mapping->module != MAPPING_ANON && mapping->since_ns > region->loaded_ns;
}

static struct code_site site_of_region(const struct code_region *region, uint64_t address)
{
	return (struct code_site){
		.kind = LOCATION_JIT, .region = region, .offset = address - region->address};
}

/* Returns the site of an address without JIT code. mapping is NULL if nothing is mapped there. */
static struct code_site site_of_mapping(const struct mapping *mapping, uint64_t address)
{
	struct code_site site = {.kind = LOCATION_UNKNOWN, .offset = address};

	if (!mapping)
		return site;
	if (mapping->module == MAPPING_ANON) {
		site.kind = LOCATION_ANON;
		return site;
	}
	site.kind = LOCATION_NATIVE;
	site.module = mapping->module;
	site.offset = address - mapping->address + mapping->file_offset;
	return site;
}

struct code_site code_site_at(const struct process *process, uint64_t address, uint64_t time_ns)
{
	const struct mapping *mapping = NULL;
	const struct code_region *region;
	struct space_entry mapped;
	struct code_place place;

	if (!process->mappings)
		return site_of_mapping(NULL, address);
	if (space_map_find(process->mappings, address, time_ns, &mapped))
		mapping = (const struct mapping *)mapped.value;
	region = process_code_find(process, mapping, address, time_ns, &place);
	if (region &&
	    !(mapping && place.code == process->code && replaced_by_file(region, mapping)))
		return site_of_region(region, place.address);
	return site_of_mapping(mapping, address);
}

bool code_site_is_returned_to(const struct code_site *site)
{
	return site->kind == LOCATION_JIT && !site->offset &&
	       engine_host_frames(site->region) == ENGINE_FRAMES_RETURNED_TO;
}

struct code_site code_site_of_caller(const struct process *process, uint64_t return_address,
				     uint64_t time_ns)
{
	struct code_site site = code_site_at(process, return_address - 1, time_ns);

	if (site.kind == LOCATION_ANON ||
	    (site.kind == LOCATION_JIT && site.offset + 1 >= site.region->size_bytes)) {
		struct code_site next = code_site_at(process, return_address, time_ns);

		if (code_site_is_returned_to(&next))
			site = next;
	}
	return site;
}

/*
 * Returns the region in force at a place, or NULL. *end is lowered if the
 * result changes before that address.
 */
static const struct code_region *region_now(struct code_place place, uint64_t address,
					    uint64_t *end)
{
	const struct code_region *next =
		place.code ? code_map_next(place.code, place.address) : NULL;
	bool covers = next && next->address <= place.address;
	uint64_t until;

	if (!next)
		return NULL;
	until = covers ? next->address + next->size_bytes : next->address;
	if (until - place.address < *end - address)
		*end = address + (until - place.address);
	return covers ? next : NULL;
}

struct code_site code_site_now(const struct process *process, uint64_t address, uint64_t *ret_end)
{
	struct code_place shared = {0}, own = {.code = process->code, .address = address};
	const struct mapping *mapping = NULL;
	const struct code_region *region;
	struct space_entry mapped;
	uint64_t end = UINT64_MAX;

	if (process->mappings && space_map_next(process->mappings, address, &mapped)) {
		if (mapped.start <= address)
			mapping = (const struct mapping *)mapped.value;
		end = mapping ? mapped.end : mapped.start;
	}
	if (mapping)
		shared = mapping_code_place(mapping, address);
	region = region_now(shared, address, &end);
	if (region) {
		*ret_end = end;
		return site_of_region(region, shared.address);
	}
	region = region_now(own, address, &end);
	*ret_end = end;
	if (region && !(mapping && replaced_by_file(region, mapping)))
		return site_of_region(region, address);
	return site_of_mapping(mapping, address);
}
