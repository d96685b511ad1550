/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/unwind_regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "locate/code_site.h"
#include "state/code/code_region.h"

#define REGIONS_MAX	(1u << 14)
#define ROWS_MAX	(350u << 10) /* limit of all regions' rows, 4 MB */
#define REGION_ROWS_MAX (ROWS_MAX / 4)

/*
 * Engines write code before they report it. So code that is read may belong to
 * a region that is reported up to this much later.
 */
#define TOLD_AFTER_NS 1000000

int unwind_regions_init(struct unwind_regions *regions)
{
	*regions = (struct unwind_regions){
		.slots = calloc(REGIONS_MAX, sizeof(*regions->slots)),
	};
	return regions->slots ? 0 : -ENOMEM;
}

void unwind_regions_deinit(struct unwind_regions *regions)
{
	for (uint64_t i = regions->oldest; i < regions->newest; i++) {
		unwind_rows_deinit(&regions->slots[i % REGIONS_MAX].rows);
		free(regions->slots[i % REGIONS_MAX].copy);
	}
	free(regions->slots);
	index_map_deinit(&regions->index);
	vec_deinit(&regions->read);
}

static uint64_t hash_of(uint64_t identity)
{
	return hash_mix(identity, 1);
}

static bool equal(const void *items, uint32_t item, const void *key)
{
	return ((const struct unwind_region *)items)[item].identity == *(const uint64_t *)key;
}

static struct unwind_region *find(const struct unwind_regions *regions, uint64_t identity)
{
	uint32_t slot = index_map_find(&regions->index, hash_of(identity), equal, regions->slots,
				       &identity);

	return slot == INDEX_MAP_NONE ? NULL : &regions->slots[slot];
}

const struct unwind_region *unwind_regions_find(const struct unwind_regions *regions,
						uint64_t identity)
{
	return find(regions, identity);
}

static void forget(struct unwind_regions *regions, struct unwind_region *region)
{
	index_map_remove(&regions->index, hash_of(region->identity),
			 (uint32_t)(region - regions->slots));
	regions->row_count -= region->rows.rows.size;
	unwind_rows_deinit(&region->rows);
	region->state = UNWIND_REGION_GONE;
}

/* Evict the oldest region without a pending request. Returns false if there is none. */
static bool forget_oldest(struct unwind_regions *regions)
{
	for (uint64_t i = regions->oldest; i < regions->newest; i++) {
		struct unwind_region *region = &regions->slots[i % REGIONS_MAX];

		if (region->state == UNWIND_REGION_GONE && i == regions->oldest)
			regions->oldest++;
		if (region->state == UNWIND_REGION_KNOWN || region->state == UNWIND_REGION_UNREAD) {
			forget(regions, region);
			return true;
		}
	}
	return false;
}

int unwind_regions_ask(struct unwind_regions *regions, uint64_t identity,
		       const struct process *process, uint64_t address)
{
	struct unwind_region *oldest = &regions->slots[regions->oldest % REGIONS_MAX];
	uint32_t slot = (uint32_t)(regions->newest % REGIONS_MAX);

	if (regions->newest - regions->oldest == REGIONS_MAX) {
		if (oldest->state == UNWIND_REGION_ASKED || oldest->state == UNWIND_REGION_READ)
			return -EBUSY;
		if (oldest->state != UNWIND_REGION_GONE)
			forget(regions, oldest);
		regions->oldest++;
	}
	if (index_map_insert(&regions->index, hash_of(identity), slot))
		return -ENOMEM;
	regions->slots[slot] = (struct unwind_region){
		.state = UNWIND_REGION_ASKED,
		.identity = identity,
		.process = process,
		.address = address,
	};
	regions->newest++;
	return 0;
}

const uint8_t *unwind_regions_copied(struct unwind_regions *regions, uint64_t identity,
				     const uint8_t *copy, size_t size_bytes)
{
	uint8_t *own = malloc(size_bytes);

	if (own)
		memcpy(own, copy, size_bytes);
	find(regions, identity)->copy = own;
	return own;
}

static void drop_copy(struct unwind_region *region)
{
	free(region->copy);
	region->copy = NULL;
}

static void settle_known(struct unwind_regions *regions, struct unwind_region *region)
{
	region->state = UNWIND_REGION_KNOWN;
	regions->known++;
}

static void settle_unread(struct unwind_regions *regions, struct unwind_region *region)
{
	drop_copy(region);
	regions->row_count -= region->rows.rows.size;
	unwind_rows_deinit(&region->rows);
	region->state = UNWIND_REGION_UNREAD;
	regions->unread++;
}

void unwind_regions_refuse(struct unwind_regions *regions, uint64_t identity)
{
	struct unwind_region *region = find(regions, identity);

	if (region)
		settle_unread(regions, region);
}

static int copy_rows(const struct unwind_rows *from, struct unwind_rows *ret)
{
	int err = vec_reserve(&ret->rows, from->rows.size);

	vec_for_each (row, &from->rows) {
		int32_t cfa = row->cfa == UNWIND_CFA_COMMAND(UNWIND_UNKNOWN)
				      ? UNWIND_CFA_COMMAND(UNWIND_FRAME_POINTER)
				      : row->cfa;

		if (!err)
			err = unwind_rows_add(ret, row->offset, cfa, row->rbp);
	}
	return err;
}

int unwind_regions_take(struct unwind_regions *regions, const struct unwind_answer *answer)
{
	struct unwind_region *region = find(regions, answer->request.region);
	int err;

	if (!region || region->state != UNWIND_REGION_ASKED)
		return 0;
	if (answer->error || answer->rows.rows.size > REGION_ROWS_MAX) {
		settle_unread(regions, region);
		return 0;
	}
	err = vec_reserve(&regions->read, regions->read.size + 1);
	if (!err)
		err = copy_rows(&answer->rows, &region->rows);
	if (err) {
		unwind_rows_deinit(&region->rows);
		settle_unread(regions, region);
		return err;
	}
	regions->row_count += region->rows.rows.size;
	if (region->copy) {
		drop_copy(region);
		settle_known(regions, region);
	} else {
		region->state = UNWIND_REGION_READ;
		region->read_ns = answer->read_ns;
		regions->read.data[regions->read.size++] = (uint32_t)(region - regions->slots);
	}
	while (regions->row_count > ROWS_MAX && forget_oldest(regions))
		;
	return 0;
}

/*
 * Returns true if the region was in force at time_ns. After the exit of the
 * process, its pid may belong to another process.
 */
static bool stood_there(const struct unwind_region *region, uint64_t time_ns)
{
	struct code_site site;

	if (!region->process)
		return false;
	site = code_site_at(region->process, region->address, time_ns);
	return region->read_ns <= region->process->exit_ns && site.kind == LOCATION_JIT &&
	       !site.offset && code_region_identity(site.region) == region->identity;
}

void unwind_regions_forget_retired(struct unwind_regions *regions)
{
	for (uint64_t number = regions->oldest; number < regions->newest; number++) {
		struct unwind_region *region = &regions->slots[number % REGIONS_MAX];

		if (region->process && !region->process->mappings)
			region->process = NULL;
	}
}

uint32_t unwind_regions_settle(struct unwind_regions *regions, uint64_t known_ns)
{
	size_t kept = 0;
	uint32_t settled;

	vec_for_each (slot, &regions->read) {
		struct unwind_region *region = &regions->slots[*slot];

		if (known_ns < region->read_ns || known_ns - region->read_ns < TOLD_AFTER_NS) {
			regions->read.data[kept++] = *slot;
			continue;
		}
		if (stood_there(region, region->read_ns + TOLD_AFTER_NS)) {
			settle_known(regions, region);
		} else {
			settle_unread(regions, region);
		}
	}
	settled = (uint32_t)(regions->read.size - kept);
	regions->read.size = kept;
	return settled;
}
