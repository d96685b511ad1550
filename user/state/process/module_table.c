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
	uint64_t hash;

	if (mapping->build_id_bytes)
		return hash_bytes(mapping->build_id, build_id_bytes(mapping), 1);
	hash = hash_mix((uint64_t)mapping->dev_major << 32 | mapping->dev_minor, mapping->inode);
	hash = hash_mix(hash, mapping->inode_generation);
	return hash_bytes(mapping->path, path_bytes(mapping), hash);
}

static bool equal(const void *items, uint32_t item, const void *key)
{
	const struct module *module = ((struct module *const *)items)[item];
	const struct jitbpf_mapping *mapping = key;
	size_t length = path_bytes(mapping);

	if (module->build_id_bytes != build_id_bytes(mapping))
		return false;
	if (module->build_id_bytes)
		return !memcmp(module->build_id, mapping->build_id, module->build_id_bytes);
	return module->dev_major == mapping->dev_major && module->dev_minor == mapping->dev_minor &&
	       module->inode == mapping->inode &&
	       module->inode_generation == mapping->inode_generation &&
	       !strncmp(module->path, mapping->path, length) && !module->path[length];
}

/* Allocates a module together with its path. Other members are 0. Returns NULL without memory. */
static struct module *module_create(const char *path, size_t path_length, size_t number)
{
	struct module *module = calloc(1, sizeof(*module) + path_length + 1);
	char *copy;

	if (!module)
		return NULL;
	copy = (char *)(module + 1);
	memcpy(copy, path, path_length);
	module->number = (uint32_t)number;
	module->path = copy;
	return module;
}

static struct module *module_of(const struct jitbpf_mapping *mapping, size_t number)
{
	struct module *module = module_create(mapping->path, path_bytes(mapping), number);

	if (!module)
		return NULL;
	module->build_id_bytes = build_id_bytes(mapping);
	memcpy(module->build_id, mapping->build_id, module->build_id_bytes);
	module->dev_major = mapping->dev_major;
	module->dev_minor = mapping->dev_minor;
	module->inode = mapping->inode;
	module->inode_generation = mapping->inode_generation;
	module->pid = mapping->pid;
	return module;
}

/* Return the module of all files over the budget. */
static int add_to_rest(struct module_table *table, const struct module **ret)
{
	struct module *rest;

	if (!table->rest) {
		if (vec_reserve(&table->modules, table->modules.size + 1))
			return -ENOMEM;
		rest = module_create(MODULE_REST_PATH, strlen(MODULE_REST_PATH),
				     table->modules.size);
		if (!rest)
			return -ENOMEM;
		table->modules.data[table->modules.size++] = rest;
		table->rest = rest;
	}
	table->over_budget++;
	*ret = table->rest;
	return 0;
}

int module_table_add(struct module_table *table, const struct jitbpf_mapping *mapping,
		     const struct module **ret)
{
	uint64_t hash = hash_of(mapping);
	uint32_t number = index_map_find(&table->index, hash, equal, table->modules.data, mapping);
	struct module *module;

	if (number != INDEX_MAP_NONE) {
		*ret = table->modules.data[number];
		return 0;
	}
	if (table->rest || table->modules.size == MODULES_MAX ||
	    table->path_bytes + path_bytes(mapping) > MODULE_PATHS_MAX)
		return add_to_rest(table, ret);
	if (vec_reserve(&table->modules, table->modules.size + 1))
		return -ENOMEM;
	number = (uint32_t)table->modules.size;
	module = module_of(mapping, number);
	if (!module)
		return -ENOMEM;
	if (index_map_insert(&table->index, hash, number)) {
		free(module);
		return -ENOMEM;
	}
	table->modules.data[table->modules.size++] = module;
	table->path_bytes += path_bytes(mapping);
	*ret = module;
	return 0;
}

const struct module *module_table_get(const struct module_table *table, uint32_t number)
{
	return number < table->modules.size ? table->modules.data[number] : NULL;
}

void module_table_deinit(struct module_table *table)
{
	vec_for_each (module, &table->modules)
		free(*module);
	vec_deinit(&table->modules);
	index_map_deinit(&table->index);
}
