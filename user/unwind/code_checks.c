/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code_checks_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "locate/code_site.h"
#include "state/code/code_publisher.h"
#include "state/code/code_region.h"

#define SECOND_NS 1000000000ull

/*
 * Limit of the regions that are examined for code older than an event; beyond it, there is assumed
 * to be some.
 */
#define REGIONS_TRIED 8

/* Fewer bytes of a sample are not compared, unless the region is smaller. */
#define OVERLAP_MIN 8

struct check_key {
	uint64_t identity;
	const struct process *process;
};

int code_checks_init(struct code_checks *checks)
{
	*checks = (struct code_checks){.slots = calloc(CODE_CHECKS_MAX, sizeof(*checks->slots))};
	if (checks->slots && !owner_slots_init(&checks->owners, CODE_CHECKS_MAX))
		return 0;
	code_checks_deinit(checks);
	return -ENOMEM;
}

/* --- events ------------------------------------------------------------------------ */

struct code_doubts *code_checks_of(const struct code_checks *checks, const struct process *process)
{
	return process->slot < checks->doubts.size ? checks->doubts.data[process->slot] : NULL;
}

static struct code_doubts *add_doubts(struct code_checks *checks, const struct process *process)
{
	struct code_doubts *doubts = code_checks_of(checks, process);

	if (doubts)
		return doubts;
	while (checks->doubts.size <= process->slot) {
		if (vec_push(&checks->doubts, NULL))
			return NULL;
	}
	doubts = calloc(1, sizeof(*doubts));
	if (!doubts)
		return NULL;
	doubts->process = process;
	checks->doubts.data[process->slot] = doubts;
	return doubts;
}

static void remove_doubts(struct code_checks *checks, size_t slot)
{
	struct code_doubts *doubts = checks->doubts.data[slot];

	checks->doubts.data[slot] = NULL;
	vec_deinit(&doubts->waiting);
	free(doubts);
}

void code_checks_deinit(struct code_checks *checks)
{
	for (uint32_t i = 0; checks->slots && i < CODE_CHECKS_MAX; i++) {
		free(checks->slots[i].copy);
		free(checks->slots[i].is);
	}
	free(checks->slots);
	owner_slots_deinit(&checks->owners);
	index_map_deinit(&checks->index);
	for (size_t i = 0; i < checks->doubts.size; i++) {
		if (checks->doubts.data[i])
			remove_doubts(checks, i);
	}
	vec_deinit(&checks->doubts);
	vec_deinit(&checks->verdicts);
	vec_deinit(&checks->unasked);
}

/* Returns true if code in [start, end) was loaded before time_ns. */
static bool has_older_code(const struct process *process, uint64_t start, uint64_t end,
			   uint64_t time_ns)
{
	for (uint32_t i = 0; i < REGIONS_TRIED; i++) {
		const struct code_region *region = code_map_next(process->code, start);

		if (!region || region->address >= end)
			return false;
		if (region->loaded_ns < time_ns)
			return true;
		start = region->address + region->size_bytes;
	}
	return true;
}

int code_checks_mapped(struct code_checks *checks, const struct process *process, uint64_t start,
		       uint64_t end, uint64_t time_ns)
{
	struct code_doubts *doubts;

	if (!process->code || start >= end || !has_older_code(process, start, end, time_ns))
		return 0;
	doubts = add_doubts(checks, process);
	if (!doubts)
		return -ENOMEM;
	code_doubts_add(doubts, start, end, time_ns);
	return 0;
}

/* --- checks ------------------------------------------------------------------------ */

static uint64_t hash_of(uint64_t identity, const struct process *process)
{
	return hash_mix(identity, (uint64_t)process->number << 1 | 1);
}

static bool equal(const void *slots, uint32_t slot, const void *key_)
{
	const struct code_check *check = (const struct code_check *)slots + slot;
	const struct check_key *key = key_;

	return check->identity == key->identity && check->process == key->process;
}

struct code_check *code_checks_find(const struct code_checks *checks, uint64_t identity,
				    const struct process *process)
{
	struct check_key key = {identity, process};
	uint32_t slot = index_map_find(&checks->index, hash_of(identity, process), equal,
				       checks->slots, &key);

	return slot == INDEX_MAP_NONE ? NULL : &checks->slots[slot];
}

static uint32_t slot_of(const struct code_checks *checks, const struct code_check *check)
{
	return (uint32_t)(check - checks->slots);
}

/* A slot can be evicted or reused once its request is answered, and no sample waits. */
static void settle_slot(struct code_checks *checks, struct code_check *check)
{
	uint32_t slot = slot_of(checks, check);

	if (check->asked || check->since_ns)
		return;
	if (check->identity)
		owner_slots_let_go(&checks->owners, slot);
	else
		owner_slots_release(&checks->owners, slot);
}

uint64_t code_checks_key(const struct code_checks *checks, const struct code_check *check)
{
	return unwind_key(UNWIND_KEY_CHECK, slot_of(checks, check), 0);
}

static void stop_wait(struct code_checks *checks, struct code_check *check)
{
	struct code_doubts *doubts =
		check->since_ns ? code_checks_of(checks, check->process) : NULL;

	if (check->since_ns)
		unwind_wake(checks->woken, code_checks_key(checks, check));
	check->since_ns = 0;
	for (size_t i = 0; doubts && i < doubts->waiting.size; i++) {
		if (doubts->waiting.data[i] == slot_of(checks, check)) {
			doubts->waiting.data[i] = doubts->waiting.data[--doubts->waiting.size];
			return;
		}
	}
}

void code_checks_end_wait(struct code_checks *checks, struct code_check *check)
{
	stop_wait(checks, check);
	settle_slot(checks, check);
}

static void free_copies(struct code_check *check)
{
	free(check->copy);
	free(check->is);
	check->copy = check->is = NULL;
}

void code_checks_drop_request(struct code_checks *checks, struct code_check *check)
{
	free_copies(check);
	check->asked = false;
	settle_slot(checks, check);
}

/* Remove the check of a slot. A pending request stays. */
static void forget(struct code_checks *checks, struct code_check *check)
{
	stop_wait(checks, check);
	index_map_remove(&checks->index, hash_of(check->identity, check->process),
			 slot_of(checks, check));
	check->identity = 0;
	check->process = NULL;
}

void code_checks_remove(struct code_checks *checks, struct code_check *check)
{
	forget(checks, check);
	settle_slot(checks, check);
}

static void evict(void *context, uint32_t slot)
{
	struct code_checks *checks = context;

	forget(checks, &checks->slots[slot]);
}

static struct code_check *add_check(struct code_checks *checks, const struct process *process,
				    const struct code_region *region)
{
	struct code_check *check = code_checks_find(checks, code_region_identity(region), process);
	uint64_t identity = code_region_identity(region);
	uint32_t slot;

	if (check)
		return check;
	if (owner_slots_take(&checks->owners, process_owner_key(&process->owner), evict, checks,
			     &slot))
		return NULL;
	if (index_map_insert(&checks->index, hash_of(identity, process), slot)) {
		owner_slots_release(&checks->owners, slot);
		return NULL;
	}
	check = &checks->slots[slot];
	*check = (struct code_check){
		.listed = check->listed,
		.identity = identity,
		.process = process,
		.address = region->address,
		.size_bytes = region->size_bytes,
		.publisher = region->claims[0].origin.publisher,
	};
	return check;
}

/* Begin to wait for a check. Returns 0, -EDQUOT (beyond the owner's share) or -ENOMEM. */
static int wait_for(struct code_checks *checks, struct code_doubts *doubts,
		    struct code_check *check, uint64_t since_ns)
{
	int err;

	if (check->since_ns) {
		check->since_ns = since_ns < check->since_ns ? since_ns : check->since_ns;
		return 0;
	}
	err = vec_reserve(&doubts->waiting, doubts->waiting.size + 1);
	err = err ?: owner_slots_hold(&checks->owners, slot_of(checks, check));
	if (err)
		return err;
	doubts->waiting.data[doubts->waiting.size++] = slot_of(checks, check);
	check->since_ns = since_ns;
	return 0;
}

static bool is_in_force(const struct process *process, const struct code_region *region)
{
	const struct code_region *now = code_map_next(process->code, region->address);

	return now && code_region_identity(now) == code_region_identity(region);
}

enum code_trust code_checks_trust(struct code_checks *checks, struct code_doubts *doubts,
				  uint64_t address, uint64_t time_ns, struct code_check **ret)
{
	const struct code_replaced *replaced;
	uint64_t since_ns, floor_ns;
	struct code_check *check;
	struct code_site site;
	int err;

	*ret = NULL;
	if (!doubts->differed && code_doubts_since(doubts, address, 0) > time_ns)
		return CODE_VOUCHED;
	replaced = code_doubts_replaced(doubts, address, time_ns);
	if (replaced)
		return replaced->goes_on ? CODE_DOUBTED : CODE_UNKNOWN;
	site = code_site_at(doubts->process, address, time_ns);
	if (site.kind != LOCATION_JIT || site.region->address + site.offset != address)
		return CODE_VOUCHED; /* no JIT code, or code in shared memory */
	check = code_checks_find(checks, code_region_identity(site.region), doubts->process);
	if (code_check_is_doubted(check, time_ns))
		return CODE_DOUBTED;
	floor_ns = site.region->loaded_ns;
	if (check && check->vouched_ns > floor_ns)
		floor_ns = check->vouched_ns;
	since_ns = code_checks_by_events(site.region) ? code_doubts_since(doubts, address, floor_ns)
						      : UINT64_MAX;
	if (check && check->doubt_ns && check->doubt_ns < since_ns)
		since_ns = check->doubt_ns;
	if (since_ns > time_ns)
		return CODE_VOUCHED;
	if (!is_in_force(doubts->process, site.region))
		return CODE_ENDED;
	check = add_check(checks, doubts->process, site.region);
	err = check ? wait_for(checks, doubts, check, since_ns) : -ENOMEM;
	if (err == -EDQUOT)
		return code_checks_refuse(checks, check, since_ns, time_ns);
	if (err)
		return CODE_ENDED;
	*ret = check;
	return CODE_WAITS;
}

/* The bytes that a sample saw and the bytes of a code copy, where both have the same addresses. */
struct overlap {
	const uint8_t *seen, *code;
	size_t size_bytes;
};

static struct overlap overlap_of(const struct jitbpf_code_bytes *seen, uint64_t address,
				 const uint8_t *code, size_t code_bytes)
{
	uint64_t from = seen->address > address ? seen->address : address;
	uint64_t seen_end = seen->address + JITBPF_CODE_BYTES, end = address + code_bytes;

	end = seen_end < end ? seen_end : end;
	if (from >= end)
		return (struct overlap){0};
	return (struct overlap){seen->bytes + (from - seen->address), code + (from - address),
				end - from};
}

/* The bytes of a sample equal the copy: they vouch for code that is in doubt since an event. */
static int vouch_by_sample(struct code_checks *checks, const struct process *process,
			   const struct code_region *region, uint64_t time_ns)
{
	struct code_doubts *doubts = code_checks_of(checks, process);
	struct code_check *check;
	uint64_t floor_ns;

	if (!doubts)
		return 0;
	check = code_checks_find(checks, code_region_identity(region), process);
	floor_ns = check && check->vouched_ns > region->loaded_ns ? check->vouched_ns
								  : region->loaded_ns;
	if ((check && check->doubt_ns) || !code_checks_by_events(region) ||
	    code_doubts_since(doubts, region->address, floor_ns) > time_ns)
		return 0;
	check = add_check(checks, process, region);
	if (!check)
		return -ENOMEM;
	check->vouched_ns = time_ns;
	code_doubts_passed(doubts, check->address);
	code_checks_end_wait(checks, check);
	return 0;
}

static int doubt_by_sample(struct code_checks *checks, const struct process *process,
			   const struct code_region *region, uint64_t time_ns,
			   const struct jitbpf_code_bytes *seen)
{
	struct code_doubts *doubts = add_doubts(checks, process);
	struct code_check *check = doubts ? add_check(checks, process, region) : NULL;

	if (!check)
		return -ENOMEM;
	doubts->differed = true;
	if (!check->doubt_ns)
		check->doubt_ns = time_ns;
	check->seen_ns = time_ns;
	check->seen = *seen;
	check->differed = false;
	return 0;
}

/* Returns the overlap with a copy of a region; empty if there is too little of it, or no copy. */
static struct overlap overlap_with(struct code_copies *copies, const struct code_region *region,
				   const struct jitbpf_code_bytes *seen)
{
	const struct code_copy *copy = code_copies_find(copies, code_region_identity(region));
	struct overlap overlap = {0};

	if (copy)
		overlap = overlap_of(seen, region->address, copy->bytes, copy->size_bytes);
	if (overlap.size_bytes < OVERLAP_MIN && overlap.size_bytes < region->size_bytes)
		return (struct overlap){0};
	return overlap;
}

static bool differs(const struct overlap *overlap)
{
	return memcmp(overlap->seen, overlap->code, overlap->size_bytes);
}

int code_checks_seen(struct code_checks *checks, struct code_copies *copies,
		     struct code_copies *large, const struct process *process, uint64_t address,
		     uint64_t time_ns, const struct jitbpf_code_bytes *seen)
{
	struct code_site site = code_site_at(process, address, time_ns);
	struct code_check *check;
	struct overlap overlap;

	if (site.kind != LOCATION_JIT || site.region->address + site.offset != address ||
	    !is_in_force(process, site.region))
		return 0;
	check = code_checks_find(checks, code_region_identity(site.region), process);
	if (code_check_is_doubted(check, time_ns))
		return 0;
	code_checks_end_doubt(check, copies, time_ns);
	overlap = overlap_with(copies, site.region, seen);
	if (overlap.size_bytes && differs(&overlap))
		return doubt_by_sample(checks, process, site.region, time_ns, seen);
	if (!overlap.size_bytes) {
		overlap = overlap_with(large, site.region, seen);
		if (!overlap.size_bytes || differs(&overlap))
			return 0;
	}
	return vouch_by_sample(checks, process, site.region, time_ns);
}

/* Count a check. Returns false if the process has used up its checks of this second. */
static bool within_budget(struct code_doubts *doubts, uint64_t now_ns)
{
	if (now_ns >= doubts->second_ns + SECOND_NS) {
		doubts->second_ns = now_ns;
		doubts->checks = 0;
	}
	return doubts->checks++ < CODE_CHECKS_PER_S;
}

/* Copy the code of a region for a request. Returns 0 or -ENOMEM. */
static int copy_code(struct code_check *check, const struct code_copy *copy)
{
	struct overlap overlap =
		overlap_of(&check->seen, check->address, copy->bytes, copy->size_bytes);

	/* A shorter copy may have replaced the one that the sample was compared with. */
	if (check->seen_ns && !overlap.size_bytes)
		check->seen_ns = 0;
	check->copy = malloc(copy->size_bytes);
	if (check->seen_ns)
		check->is = malloc(copy->size_bytes);
	if (!check->copy || (check->seen_ns && !check->is)) {
		free_copies(check);
		return -ENOMEM;
	}
	check->copy_bytes = copy->size_bytes;
	memcpy(check->copy, copy->bytes, copy->size_bytes);
	if (!check->is)
		return 0;
	check->asked_seen_ns = check->seen_ns;
	memcpy(check->is, copy->bytes, copy->size_bytes);
	memcpy(check->is + (overlap.code - copy->bytes), overlap.seen, overlap.size_bytes);
	return 0;
}

bool code_checks_request(struct code_checks *checks, struct code_check *check,
			 struct code_copies *copies, struct unwind_request *ret)
{
	struct code_doubts *doubts = code_checks_of(checks, check->process);
	const struct code_copy *copy = code_copies_find(copies, check->identity);

	if (!copy)
		check->seen_ns = 0;
	/* A check with the bytes of a sample reads no memory, so it needs no pause. */
	if (check->asked || (checks->now_ns < check->next_ns && !check->seen_ns) ||
	    !within_budget(doubts, checks->now_ns))
		return false;
	if (copy && copy->size_bytes && copy_code(check, copy))
		return false;
	check->asked = true;
	*ret = (struct unwind_request){
		.kind = UNWIND_CODE_CHECK,
		.pid = check->process->pid,
		.owner = process_owner_key(&check->process->owner),
		.code = {.region = check->identity,
			 .address = check->address,
			 .size_bytes = check->size_bytes,
			 .copy = check->copy,
			 .copy_bytes = check->copy ? check->copy_bytes : 0,
			 .check = {.number = slot_of(checks, check),
				   .objects_move =
					   code_publisher_of(check->publisher)->objects_move,
				   .is = check->is}},
	};
	return true;
}

void code_checks_list(struct code_checks *checks, struct code_check *check)
{
	if (!check->listed)
		check->listed = !vec_push(&checks->unasked, slot_of(checks, check));
}

void code_checks_forget_retired(struct code_checks *checks)
{
	for (uint32_t i = 0; i < CODE_CHECKS_MAX; i++) {
		struct code_check *check = &checks->slots[i];

		if (check->process && !check->process->mappings)
			code_checks_remove(checks, check);
	}
	for (size_t i = 0; i < checks->doubts.size; i++) {
		if (checks->doubts.data[i] && !checks->doubts.data[i]->process->mappings)
			remove_doubts(checks, i);
	}
}
