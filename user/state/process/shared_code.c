/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/process/shared_code.h"

#include <errno.h>
#include <linux/mman.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"

void shared_code_table_deinit(struct shared_code_table *table)
{
	vec_deinit(&table->all);
	index_map_deinit(&table->index);
}

static uint64_t hash_of(uint32_t dev_major, uint32_t dev_minor, uint64_t inode, uint64_t generation)
{
	return hash_mix(hash_mix((uint64_t)dev_major << 32 | dev_minor, inode), generation);
}

static uint64_t hash_of_shared(const struct shared_code *shared)
{
	return hash_of(shared->dev_major, shared->dev_minor, shared->inode,
		       shared->inode_generation);
}

static bool equal(const void *items, uint32_t item, const void *key)
{
	const struct shared_code *shared = ((struct shared_code *const *)items)[item];
	const struct jitbpf_mapping *mapping = key;

	return shared->dev_major == mapping->dev_major && shared->dev_minor == mapping->dev_minor &&
	       shared->inode == mapping->inode &&
	       shared->inode_generation == mapping->inode_generation;
}

/* Remove an object. The last object gets its number. */
static void take_out(struct shared_code_table *table, struct shared_code *shared)
{
	struct shared_code *last = table->all.data[table->all.size - 1];

	index_map_remove(&table->index, hash_of_shared(shared), shared->number);
	table->all.size--;
	if (last == shared)
		return;
	index_map_remove(&table->index, hash_of_shared(last), last->number);
	last->number = shared->number;
	table->all.data[last->number] = last;
	/* Two entries were removed, so there is room and this cannot fail. */
	(void)index_map_insert(&table->index, hash_of_shared(last), last->number);
}

static void shared_code_free(struct space_value *value)
{
	struct shared_code *shared = (struct shared_code *)value;

	take_out(shared->table, shared);
	if (shared->code) {
		*shared->link = shared->next;
		if (shared->next)
			shared->next->link = shared->link;
		code_map_destroy(shared->code);
	}
	free(shared);
}

/*
 * Returns true if the object of a mapping is shared memory that can be identified. A System V
 * segment cannot: its inode is its id, which each IPC namespace counts for itself.
 */
static bool is_shared(const struct jitbpf_mapping *mapping)
{
	return (mapping->map_flags & MAP_TYPE) == MAP_SHARED && mapping->inode &&
	       !begins_with(mapping->path, "/SYSV");
}

static int add(struct shared_code_table *table, const struct jitbpf_mapping *mapping, uint64_t hash,
	       struct shared_code **ret)
{
	struct shared_code *shared;

	if (table->all.size >= INDEX_MAP_NONE - 1 || vec_reserve(&table->all, table->all.size + 1))
		return -ENOMEM;
	shared = malloc(sizeof(*shared));
	if (!shared)
		return -ENOMEM;
	*shared = (struct shared_code){
		.value = {.refs = 1, .free = shared_code_free},
		.table = table,
		.number = (uint32_t)table->all.size,
		.dev_major = mapping->dev_major,
		.dev_minor = mapping->dev_minor,
		.inode = mapping->inode,
		.inode_generation = mapping->inode_generation,
	};
	if (index_map_insert(&table->index, hash, shared->number)) {
		free(shared);
		return -ENOMEM;
	}
	table->all.data[table->all.size++] = shared;
	*ret = shared;
	return 0;
}

int shared_code_table_get(struct shared_code_table *table, const struct jitbpf_mapping *mapping,
			  struct shared_code **ret)
{
	uint64_t hash;
	uint32_t number;

	if (!is_shared(mapping)) {
		*ret = NULL;
		return 0;
	}
	hash = hash_of(mapping->dev_major, mapping->dev_minor, mapping->inode,
		       mapping->inode_generation);
	number = index_map_find(&table->index, hash, equal, table->all.data, mapping);
	if (number == INDEX_MAP_NONE)
		return add(table, mapping, hash, ret);
	*ret = table->all.data[number];
	space_value_get(&(*ret)->value);
	return 0;
}

/* Most objects that are mapped executable hold no JIT code: maps are made on demand. */
static int create_map(struct shared_code *shared)
{
	struct shared_code_table *table = shared->table;
	int err = code_map_create(table->next_region, &shared->code);

	if (err)
		return err;
	code_map_set_line_rules(shared->code, table->line_rules);
	shared->next = table->with_code;
	if (shared->next)
		shared->next->link = &shared->next;
	shared->link = &table->with_code;
	table->with_code = shared;
	return 0;
}

int shared_code_apply(struct shared_code *shared, struct code_account *account,
		      const struct code_event *event)
{
	int err = shared->code ? 0 : create_map(shared);
	uint64_t before;

	if (err)
		return err;
	before = code_map_generation(shared->code);
	err = code_map_apply(shared->code, account, event);
	shared->table->generation += code_map_generation(shared->code) - before;
	return err;
}

int shared_code_gap(struct shared_code *shared, struct code_account *account,
		    const struct code_gap *gap)
{
	uint64_t before;
	int err;

	if (!shared->code)
		return 0;
	before = code_map_generation(shared->code);
	err = code_map_gap(shared->code, account, gap);
	shared->table->generation += code_map_generation(shared->code) - before;
	return err;
}

void shared_code_table_forget(struct shared_code_table *table, uint64_t time_ns)
{
	for (struct shared_code *shared = table->with_code; shared; shared = shared->next)
		code_map_forget(shared->code, time_ns);
}
