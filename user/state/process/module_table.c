/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/process/module_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static size_t path_bytes(const struct jitbpf_mapping *mapping)
{
	return strnlen(mapping->path, MODULE_PATH_MAX - 1);
}

static uint32_t build_id_bytes(const struct jitbpf_mapping *mapping)
{
	return mapping->build_id_bytes < JITBPF_BUILD_ID_MAX ? mapping->build_id_bytes
							     : JITBPF_BUILD_ID_MAX;
}

static uint64_t hash_of(const struct jitbpf_mapping *mapping)
{
	uint64_t hash = hash_bytes(mapping->build_id, build_id_bytes(mapping), 1);

	hash = hash_mix(hash, (uint64_t)mapping->dev_major << 32 | mapping->dev_minor);
	hash = hash_mix(hash_mix(hash, mapping->inode), mapping->inode_generation);
	return hash_bytes(mapping->path, path_bytes(mapping), hash);
}

static bool equal(const void *items, uint32_t item, const void *key)
{
	const struct module *module = ((const struct module_slot *)items)[item].module;
	const struct jitbpf_mapping *mapping = key;
	size_t length = path_bytes(mapping);

	return module->dev_major == mapping->dev_major && module->dev_minor == mapping->dev_minor &&
	       module->inode == mapping->inode &&
	       module->inode_generation == mapping->inode_generation &&
	       module->build_id_bytes == build_id_bytes(mapping) &&
	       !memcmp(module->build_id, mapping->build_id, module->build_id_bytes) &&
	       !strncmp(module->path, mapping->path, length) && !module->path[length];
}

/* --- modules ----------------------------------------------------------------------- */

/*
 * Returns a module in one allocation with its path, with all other members 0; or NULL (no memory).
 */
static struct module *module_create(const char *path, size_t path_length)
{
	struct module *module = calloc(1, sizeof(*module) + path_length + 1);

	if (module)
		module->path = memcpy(module + 1, path, path_length);
	return module;
}

static struct module *module_of(const struct jitbpf_mapping *mapping)
{
	struct module *module = module_create(mapping->path, path_bytes(mapping));

	if (!module)
		return NULL;
	module->build_id_bytes = build_id_bytes(mapping);
	memcpy(module->build_id, mapping->build_id, module->build_id_bytes);
	module->dev_major = mapping->dev_major;
	module->dev_minor = mapping->dev_minor;
	module->inode = mapping->inode;
	module->inode_generation = mapping->inode_generation;
	module->pid = mapping->pid;
	module->file = engine_file_of(module->path);
	return module;
}

static void add_owner(struct module *module, struct owner_key owner)
{
	uint32_t count = module_owner_count(module);

	for (uint32_t i = 0; i < count; i++) {
		if (module->owners[i].uid == owner.uid && module->owners[i].cgroup == owner.cgroup)
			return;
	}
	if (count == MODULE_OWNERS_MAX)
		return;
	module->owners[count] = owner;
	atomic_store_explicit(&module->owner_count, count + 1, memory_order_release);
}

/* Holders change only the reference count of a const module. */
static atomic_uint *held_of(const struct module *module)
{
	return (atomic_uint *)&module->held;
}

const struct module *module_hold(const struct module *module)
{
	if (module)
		atomic_fetch_add_explicit(held_of(module), 1, memory_order_relaxed);
	return module;
}

void module_release(const struct module *module)
{
	if (module && !atomic_fetch_sub_explicit(held_of(module), 1, memory_order_acq_rel))
		free((struct module *)module);
}

bool module_is_last(const struct module *module)
{
	return !atomic_load_explicit(held_of(module), memory_order_acquire);
}

void module_drop(struct module *module)
{
	atomic_store_explicit(&module->dropped, true, memory_order_relaxed);
}

bool module_is_dropped(const struct module *module)
{
	return atomic_load_explicit(&module->dropped, memory_order_relaxed);
}

/* --- slots ------------------------------------------------------------------------- */

#define SLOT_MASK ((1u << MODULE_SLOT_BITS) - 1)
#define USES_MAX  (1u << (31 - MODULE_SLOT_BITS))
#define SWEEP_MAX 4096 /* slots that one sweep looks at */

_Static_assert(MODULES_BYTES_MAX / MODULE_COST_BYTES < SLOT_MASK, "room for the rest, too");

#define EVICT_EVERY 1024 /* refusals, if nothing could be evicted */

/* Put a module into a free slot, and number it. Takes it over, except on failure. */
static int enter(struct module_table *table, struct module *module, uint64_t hash)
{
	uint32_t slot = (uint32_t)table->slots.size;

	/* With room for all slots in free_slots, remove() cannot fail. */
	if (!table->free_slots.size &&
	    (slot > SLOT_MASK || vec_reserve(&table->slots, (size_t)slot + 1) ||
	     vec_reserve(&table->free_slots, (size_t)slot + 1)))
		return slot > SLOT_MASK ? -ENOSPC : -ENOMEM;
	if (table->free_slots.size)
		slot = table->free_slots.data[--table->free_slots.size];
	else
		table->slots.data[table->slots.size++] = (struct module_slot){0};
	module->number = table->slots.data[slot].uses++ << MODULE_SLOT_BITS | slot;
	table->slots.data[slot].module = module;
	table->slots.data[slot].hash = hash;
	table->count++;
	return 0;
}

static uint64_t cost_of(const struct module *module)
{
	return MODULE_COST_BYTES + strlen(module->path);
}

/* A slot that has used up its numbers stays empty. */
static void leave(struct module_table *table, uint32_t number)
{
	struct module_slot *slot = &table->slots.data[number];

	if (slot->owner) {
		owner_budget_release(&table->budget, slot->owner, cost_of(slot->module));
		owner_budget_put(&table->budget, slot->owner);
	}
	module_drop(slot->module);
	module_release(slot->module);
	*slot = (struct module_slot){.uses = slot->uses};
	if (slot->uses < USES_MAX)
		table->free_slots.data[table->free_slots.size++] = number;
	table->count--;
}

static void remove_module(struct module_table *table, uint32_t number)
{
	const struct module_slot *slot = &table->slots.data[number];

	index_map_remove(&table->index, slot->hash, number);
	leave(table, number);
}

/* The module of all files over the limits. */
static int add_to_rest(struct module_table *table, const struct module **ret)
{
	struct module *rest;
	int err;

	if (!table->rest) {
		rest = module_create(MODULE_REST_PATH, strlen(MODULE_REST_PATH));
		if (!rest)
			return -ENOMEM;
		err = enter(table, rest, 0);
		if (err) {
			module_release(rest);
			return -ENOMEM;
		}
		table->rest = rest;
	}
	table->over_budget++;
	*ret = table->rest;
	return 0;
}

static bool is_used(const struct module_slot *slot, uint32_t oldest_epoch)
{
	return slot->mappings || slot->epochs > oldest_epoch;
}

/* Remove the modules of an owner that nothing uses. Returns true if there were any. */
static bool evict(struct module_table *table, const struct budget_owner *owner)
{
	uint32_t before = table->count;

	if (table->evict_after) {
		table->evict_after--;
		return false;
	}
	for (uint32_t i = 0; i < table->slots.size; i++) {
		const struct module_slot *slot = &table->slots.data[i];

		if (slot->module && slot->owner == owner && !is_used(slot, table->oldest_epoch))
			remove_module(table, i);
	}
	if (table->count == before)
		table->evict_after = EVICT_EVERY;
	return table->count != before;
}

/* Charge a module to an owner. Returns 0, -EDQUOT or -ENOMEM. */
static int charge(struct module_table *table, struct owner_key key, uint64_t bytes,
		  struct budget_owner **ret)
{
	struct budget_owner *owner;
	int err;

	if (!table->budget.limit)
		table->budget.limit = MODULES_BYTES_MAX;
	err = owner_budget_get(&table->budget, key, &owner);
	if (err)
		return err;
	err = owner_budget_charge(&table->budget, owner, bytes);
	if (err && evict(table, owner))
		err = owner_budget_charge(&table->budget, owner, bytes);
	if (err) {
		owner->refused++;
		owner_budget_put(&table->budget, owner);
	} else {
		*ret = owner;
	}
	return err;
}

/* Put a module that was charged into a slot and the index. Takes it over, except on failure. */
static int insert(struct module_table *table, struct module *module, uint64_t hash,
		  struct budget_owner *owner)
{
	int err = enter(table, module, hash);
	uint32_t slot = module->number & SLOT_MASK;

	if (err)
		return err;
	err = index_map_insert(&table->index, hash, slot);
	if (err) {
		module_hold(module);
		leave(table, slot);
		return err;
	}
	table->slots.data[slot].owner = owner;
	return 0;
}

/* Returns 0, -EDQUOT or -ENOSPC (no room), or -ENOMEM. */
static int add_new(struct module_table *table, const struct jitbpf_mapping *mapping,
		   struct owner_key key, uint64_t hash, const struct module **ret)
{
	struct module *module = module_of(mapping);
	struct budget_owner *owner;
	int err;

	if (!module)
		return -ENOMEM;
	add_owner(module, key);
	err = charge(table, key, cost_of(module), &owner);
	if (!err) {
		err = insert(table, module, hash, owner);
		if (err) {
			owner_budget_release(&table->budget, owner, cost_of(module));
			owner_budget_put(&table->budget, owner);
		}
	}
	if (err)
		module_release(module);
	else
		*ret = module;
	return err;
}

void module_table_set_memory(struct module_table *table, uint64_t bytes)
{
	table->budget.limit = bytes < MODULES_BYTES_MAX ? bytes : MODULES_BYTES_MAX;
}

int module_table_add(struct module_table *table, const struct jitbpf_mapping *mapping,
		     struct owner_key owner, const struct module **ret)
{
	uint64_t hash = hash_of(mapping);
	uint32_t slot = index_map_find(&table->index, hash, equal, table->slots.data, mapping);
	int err;

	if (slot != INDEX_MAP_NONE) {
		add_owner(table->slots.data[slot].module, owner);
		*ret = table->slots.data[slot].module;
		return 0;
	}
	err = add_new(table, mapping, owner, hash, ret);
	return err == -EDQUOT || err == -ENOSPC ? add_to_rest(table, ret) : err;
}

static struct module_slot *slot_of(const struct module_table *table, uint32_t number)
{
	uint32_t slot = number & SLOT_MASK;
	struct module_slot *found = slot < table->slots.size ? &table->slots.data[slot] : NULL;

	return found && found->module && found->module->number == number ? found : NULL;
}

const struct module *module_table_get(const struct module_table *table, uint32_t number)
{
	const struct module_slot *slot = slot_of(table, number);

	return slot ? slot->module : NULL;
}

void module_table_map(struct module_table *table, uint32_t number)
{
	struct module_slot *slot = slot_of(table, number);

	if (slot)
		slot->mappings++;
}

void module_table_unmap(struct module_table *table, uint32_t number)
{
	struct module_slot *slot = slot_of(table, number);

	if (slot)
		slot->mappings--;
}

void module_table_use(struct module_table *table, uint32_t number, uint32_t epoch)
{
	struct module_slot *slot = slot_of(table, number);

	if (slot && slot->epochs <= epoch)
		slot->epochs = epoch + 1;
}

void module_table_forget(struct module_table *table, uint32_t oldest_epoch, uint64_t time_ns)
{
	size_t left = table->slots.size < SWEEP_MAX ? table->slots.size : SWEEP_MAX;

	table->oldest_epoch = oldest_epoch;
	for (; left; left--) {
		uint32_t number = table->next < table->slots.size ? table->next : 0;
		struct module_slot *slot = &table->slots.data[number];

		table->next = number + 1;
		if (!slot->module || slot->module == table->rest)
			continue;
		/* An unused module's time begins with the sweep that first finds it unused. */
		if (is_used(slot, oldest_epoch) || !slot->used_ns)
			slot->used_ns = time_ns;
		else if (time_ns - slot->used_ns > MODULE_KEEP_NS)
			remove_module(table, number);
	}
}

void module_table_deinit(struct module_table *table)
{
	vec_for_each (slot, &table->slots)
		module_release(slot->module);
	vec_deinit(&table->slots);
	vec_deinit(&table->free_slots);
	index_map_deinit(&table->index);
	owner_budget_deinit(&table->budget);
}
