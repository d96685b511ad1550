/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code/code_check_table.h"

#include <errno.h>

#include "base/hash.h"
#include "state/code/code_region.h"

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

static void remove_doubts(struct code_checks *checks, size_t slot)
{
	struct code_doubts *doubts = checks->doubts.data[slot];

	checks->doubts.data[slot] = NULL;
	vec_deinit(&doubts->waiting);
	free(doubts);
}

void code_checks_deinit(struct code_checks *checks)
{
	for (uint32_t i = 0; checks->slots && i < CODE_CHECKS_MAX; i++)
		code_check_free_copies(&checks->slots[i]);
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

struct code_doubts *code_checks_of(const struct code_checks *checks, const struct process *process)
{
	return process->slot < checks->doubts.size ? checks->doubts.data[process->slot] : NULL;
}

struct code_doubts *code_checks_add_doubts(struct code_checks *checks,
					   const struct process *process)
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

/* A slot can be evicted or reused once its request is answered, and no sample waits. */
static void settle_slot(struct code_checks *checks, struct code_check *check)
{
	uint32_t slot = code_check_slot(checks, check);

	if (check->asked || check->since_ns)
		return;
	if (check->identity)
		owner_slots_let_go(&checks->owners, slot);
	else
		owner_slots_release(&checks->owners, slot);
}

uint64_t code_checks_key(const struct code_checks *checks, const struct code_check *check)
{
	return unwind_key(UNWIND_KEY_CHECK, code_check_slot(checks, check), 0);
}

static void stop_wait(struct code_checks *checks, struct code_check *check)
{
	struct code_doubts *doubts =
		check->since_ns ? code_checks_of(checks, check->process) : NULL;

	if (check->since_ns)
		unwind_wake(checks->woken, code_checks_key(checks, check));
	check->since_ns = 0;
	for (size_t i = 0; doubts && i < doubts->waiting.size; i++) {
		if (doubts->waiting.data[i] == code_check_slot(checks, check)) {
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

void code_checks_drop_request(struct code_checks *checks, struct code_check *check)
{
	code_check_free_copies(check);
	check->asked = false;
	settle_slot(checks, check);
}

/* Remove the check of a slot. A pending request stays. */
static void forget(struct code_checks *checks, struct code_check *check)
{
	stop_wait(checks, check);
	index_map_remove(&checks->index, hash_of(check->identity, check->process),
			 code_check_slot(checks, check));
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

struct code_check *code_checks_add(struct code_checks *checks, const struct process *process,
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

int code_checks_wait(struct code_checks *checks, struct code_doubts *doubts,
		     struct code_check *check, uint64_t since_ns)
{
	int err;

	if (check->since_ns) {
		check->since_ns = since_ns < check->since_ns ? since_ns : check->since_ns;
		return 0;
	}
	err = vec_reserve(&doubts->waiting, doubts->waiting.size + 1);
	err = err ?: owner_slots_hold(&checks->owners, code_check_slot(checks, check));
	if (err)
		return err;
	doubts->waiting.data[doubts->waiting.size++] = code_check_slot(checks, check);
	check->since_ns = since_ns;
	return 0;
}

void code_checks_list(struct code_checks *checks, struct code_check *check)
{
	if (!check->listed)
		check->listed = !vec_push(&checks->unasked, code_check_slot(checks, check));
}

void code_checks_forget_retired(struct code_checks *checks)
{
	for (uint32_t i = 0; checks->index.size && i < CODE_CHECKS_MAX; i++) {
		struct code_check *check = &checks->slots[i];

		if (check->process && !check->process->mappings)
			code_checks_remove(checks, check);
	}
	for (size_t i = 0; i < checks->doubts.size; i++) {
		if (checks->doubts.data[i] && !checks->doubts.data[i]->process->mappings)
			remove_doubts(checks, i);
	}
}
