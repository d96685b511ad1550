/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/unwind_regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "locate/code_site.h"
#include "state/code/code_region.h"

#define REGIONS_MAX	 (1u << 14)
#define ROWS_MAX	 (350u << 10) /* limit of all regions' rows, 4 MB */
#define REGION_ROWS_MAX	 (ROWS_MAX / 4)
#define COPIED_BYTES_MAX (8u << 20)   /* above this, large code is not copied for a request */
#define TIMEOUTS_MAX	 5	      /* of the requests for a region */
#define LATE_NS		 250000000ull /* after a second timeout, before the next request */

/*
 * Engines write code before they report it. So code that is read may belong to
 * a region that is reported up to this much later.
 */
#define TOLD_AFTER_NS 1000000

int unwind_regions_init(struct unwind_regions *regions)
{
	*regions = (struct unwind_regions){
		.slots = calloc(REGIONS_MAX, sizeof(*regions->slots)),
		.rows.limit = ROWS_MAX,
	};
	if (regions->slots && !owner_slots_init(&regions->owners, REGIONS_MAX))
		return 0;
	unwind_regions_deinit(regions);
	return -ENOMEM;
}

void unwind_regions_deinit(struct unwind_regions *regions)
{
	for (uint32_t i = 0; i < regions->owners.used; i++) {
		unwind_rows_deinit(&regions->slots[i].rows);
		free(regions->slots[i].copy);
	}
	free(regions->slots);
	owner_slots_deinit(&regions->owners);
	owner_budget_deinit(&regions->rows);
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

static uint32_t slot_of(const struct unwind_regions *regions, const struct unwind_region *region)
{
	return (uint32_t)(region - regions->slots);
}

static void drop_rows(struct unwind_regions *regions, struct unwind_region *region)
{
	if (region->payer) {
		owner_budget_release(&regions->rows, region->payer, region->rows.rows.size);
		owner_budget_put(&regions->rows, region->payer);
	}
	region->payer = NULL;
	unwind_rows_deinit(&region->rows);
}

static void evict(void *context, uint32_t slot)
{
	struct unwind_regions *regions = context;
	struct unwind_region *region = &regions->slots[slot];

	index_map_remove(&regions->index, hash_of(region->identity), slot);
	drop_rows(regions, region);
	region->state = UNWIND_REGION_GONE;
}

struct payment {
	const struct unwind_regions *regions;
	const struct budget_owner *payer;
};

static bool is_paid_by(const void *payment_, uint32_t slot)
{
	const struct payment *payment = payment_;

	return payment->regions->slots[slot].payer == payment->payer;
}

/*
 * Evict the oldest decided region whose rows count for the owner with most rows. `wants` has added
 * rows. Returns false if that owner's regions are not decided yet.
 */
static bool evict_oldest(struct unwind_regions *regions, struct budget_owner *wants)
{
	struct payment payment = {regions, owner_budget_largest(&regions->rows, wants, 0)};
	uint32_t slot = owner_slots_find_idle(&regions->owners, is_paid_by, &payment);

	if (slot == OWNER_SLOTS_NONE)
		return false;
	evict(regions, slot);
	owner_slots_release(&regions->owners, slot);
	return true;
}

bool unwind_regions_is_due(const struct unwind_regions *regions, const struct unwind_region *region)
{
	return region->state == UNWIND_REGION_LATE && regions->now_ns >= region->due_ns;
}

/* Request a region again, for a process that may be another one with the same code. */
static int ask_again(struct unwind_regions *regions, struct unwind_region *region,
		     const struct process *process, uint64_t address)
{
	if (owner_slots_hold(&regions->owners, slot_of(regions, region)))
		return -EBUSY;
	region->state = UNWIND_REGION_ASKED;
	region->process = process;
	region->address = address;
	return 0;
}

int unwind_regions_ask(struct unwind_regions *regions, uint64_t identity,
		       const struct process *process, uint64_t address)
{
	struct unwind_region *late = find(regions, identity);
	uint32_t slot;
	int err;

	if (late)
		return ask_again(regions, late, process, address);
	err = owner_slots_take(&regions->owners, process_owner_key(&process->owner), evict, regions,
			       &slot);

	if (err)
		return err;
	if (owner_slots_hold(&regions->owners, slot))
		err = -EBUSY;
	else if (index_map_insert(&regions->index, hash_of(identity), slot))
		err = -ENOMEM;
	if (err) {
		owner_slots_release(&regions->owners, slot);
		return err;
	}
	regions->slots[slot] = (struct unwind_region){
		.state = UNWIND_REGION_ASKED,
		.identity = identity,
		.process = process,
		.owner = process_owner_key(&process->owner),
		.address = address,
	};
	return 0;
}

const uint8_t *unwind_regions_copied(struct unwind_regions *regions, uint64_t identity,
				     const uint8_t *copy, size_t size_bytes)
{
	struct unwind_region *region = find(regions, identity);
	uint8_t *own = malloc(size_bytes);

	if (!own)
		return NULL;
	memcpy(own, copy, size_bytes);
	region->copy = own;
	region->copy_bytes = size_bytes;
	regions->copied_bytes += size_bytes;
	return own;
}

bool unwind_regions_has_room(const struct unwind_regions *regions)
{
	return regions->copied_bytes <= COPIED_BYTES_MAX;
}

static void drop_copy(struct unwind_regions *regions, struct unwind_region *region)
{
	regions->copied_bytes -= region->copy_bytes;
	free(region->copy);
	region->copy = NULL;
	region->copy_bytes = 0;
}

/* A region is decided. */
static void let_go(struct unwind_regions *regions, struct unwind_region *region)
{
	owner_slots_let_go(&regions->owners, slot_of(regions, region));
	region->process = NULL;
	unwind_wake(regions->woken, unwind_key(UNWIND_KEY_REGION, region->identity, 0));
}

static void settle_known(struct unwind_regions *regions, struct unwind_region *region)
{
	region->state = UNWIND_REGION_KNOWN;
	let_go(regions, region);
	regions->known++;
}

static void settle_unread(struct unwind_regions *regions, struct unwind_region *region)
{
	drop_copy(regions, region);
	drop_rows(regions, region);
	region->state = UNWIND_REGION_UNREAD;
	let_go(regions, region);
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

/*
 * A request timed out: the machine is busy, or the memory never answers. Such memory must not be
 * requested without limit, since stacks wait for each request.
 */
static void settle_late(struct unwind_regions *regions, struct unwind_region *region)
{
	if (++region->timeouts >= TIMEOUTS_MAX) {
		settle_unread(regions, region);
		return;
	}
	drop_copy(regions, region);
	region->state = UNWIND_REGION_LATE;
	region->due_ns = regions->now_ns + (region->timeouts > 1 ? LATE_NS : 0);
	let_go(regions, region);
}

int unwind_regions_take(struct unwind_regions *regions, const struct unwind_answer *answer)
{
	struct unwind_region *region = find(regions, answer->request.code.region);
	struct budget_owner *payer;
	int err;

	if (!region || region->state != UNWIND_REGION_ASKED)
		return 0;
	if (answer->error == -ETIMEDOUT) {
		settle_late(regions, region);
		return 0;
	}
	if (answer->error || answer->rows.rows.size > REGION_ROWS_MAX) {
		settle_unread(regions, region);
		return 0;
	}
	err = vec_reserve(&regions->read, regions->read.size + 1);
	err = err ?: copy_rows(&answer->rows, &region->rows);
	err = err ?: owner_budget_get(&regions->rows, region->owner, &region->payer);
	err = err ?: owner_budget_get(&regions->rows, region->owner, &payer); /* for this call */
	if (err) {
		region->rows.rows.size = 0; /* not charged */
		settle_unread(regions, region);
		return err;
	}
	owner_budget_add(&regions->rows, payer, region->rows.rows.size);
	if (region->copy) {
		drop_copy(regions, region);
		settle_known(regions, region);
	} else {
		region->state = UNWIND_REGION_READ;
		region->read_ns = answer->read_ns;
		regions->read.data[regions->read.size++] = slot_of(regions, region);
	}
	while (!owner_budget_has_room(&regions->rows, 0) && evict_oldest(regions, payer))
		;
	owner_budget_put(&regions->rows, payer);
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
	if (!regions->owners.busy.used)
		return; /* no region has a process */
	for (uint32_t i = 0; i < regions->owners.used; i++) {
		struct unwind_region *region = &regions->slots[i];

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
