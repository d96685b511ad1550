/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/runtimes/runtime_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct name_key {
	const struct engine *engine;
	const char *name, *file;
	uint32_t first_line, uid;
};

static uint64_t hash_of(const struct name_key *key)
{
	uint64_t hash = hash_mix((uint64_t)(uintptr_t)key->engine,
				 (uint64_t)key->uid << 32 | key->first_line);

	hash = hash_bytes(key->name, strlen(key->name), hash);
	return hash_bytes(key->file, strlen(key->file), hash);
}

static bool equal(const void *slots, uint32_t slot, const void *key_)
{
	const struct runtime_name *name = ((struct runtime_name *const *)slots)[slot];
	const struct name_key *key = key_;

	return name->engine == key->engine && name->first_line == key->first_line &&
	       name->uid == key->uid && !strcmp(name->name, key->name) &&
	       !strcmp(name->file, key->file);
}

static void free_name(struct runtime_name *name)
{
	if (!name)
		return;
	free(name->name);
	free(name->file);
	free(name);
}

static int add(struct runtime_names *names, const struct name_key *key, uint64_t hash,
	       struct runtime_name *name)
{
	name->name = strdup(key->name);
	name->file = strdup(key->file);
	if (!name->name || !name->file || vec_reserve(&names->vacant, names->slots.size + 1) ||
	    vec_reserve(&names->news, names->news.size + 1))
		return -ENOMEM;
	if (!names->vacant.size && vec_push(&names->slots, NULL))
		return -ENOMEM;
	name->slot = names->vacant.size ? names->vacant.data[names->vacant.size - 1]
					: (uint32_t)names->slots.size - 1;
	if (index_map_insert(&names->index, hash, name->slot)) {
		if (!names->vacant.size)
			names->slots.size--;
		return -ENOMEM;
	}
	if (names->vacant.size)
		names->vacant.size--;
	names->slots.data[name->slot] = name;
	names->news.data[names->news.size++] = name;
	name->engine = key->engine;
	name->first_line = key->first_line;
	name->uid = key->uid;
	name->hash = hash;
	name->number = ++names->last;
	name->refs = 2; /* the caller's, and that of `news` */
	return 0;
}

static uint64_t bytes_of(const struct runtime_name *name)
{
	return sizeof(*name) + strlen(name->name) + strlen(name->file);
}

/* Take a name out of the list of those without a reference. */
static void unlink_kept(struct runtime_names *names, struct runtime_name *name)
{
	*(name->before ? &name->before->behind : &names->oldest) = name->behind;
	*(name->behind ? &name->behind->before : &names->newest) = name->before;
	name->before = name->behind = NULL;
	names->kept_bytes -= bytes_of(name);
}

int runtime_names_get(struct runtime_names *names, const struct engine *engine, const char *name,
		      const char *file, uint32_t first_line, uint32_t uid, uint32_t pid,
		      struct runtime_name **ret)
{
	const struct name_key key = {engine, name, file, first_line, uid};
	uint64_t hash = hash_of(&key);
	uint32_t slot = index_map_find(&names->index, hash, equal, names->slots.data, &key);
	struct runtime_name *one;
	int err;

	if (slot != INDEX_MAP_NONE) {
		*ret = names->slots.data[slot];
		if (!(*ret)->refs++)
			unlink_kept(names, *ret);
		return 0;
	}
	one = calloc(1, sizeof(*one));
	err = one ? add(names, &key, hash, one) : -ENOMEM;
	if (err) {
		free_name(one);
		return err;
	}
	one->pid = pid;
	*ret = one;
	return 0;
}

static void drop_oldest(struct runtime_names *names)
{
	struct runtime_name *name = names->oldest;

	unlink_kept(names, name);
	index_map_remove(&names->index, name->hash, name->slot);
	names->slots.data[name->slot] = NULL;
	names->vacant.data[names->vacant.size++] = name->slot;
	free_name(name);
}

void runtime_names_put(struct runtime_names *names, struct runtime_name *name)
{
	if (!name || --name->refs)
		return;
	name->before = names->newest;
	*(names->newest ? &names->newest->behind : &names->oldest) = name;
	names->newest = name;
	names->kept_bytes += bytes_of(name);
	while (names->kept_bytes > RUNTIME_NAMES_KEPT_BYTES)
		drop_oldest(names);
}

const struct runtime_name *runtime_names_take(struct runtime_names *names)
{
	if (names->taken)
		runtime_names_put(names, names->news.data[names->taken - 1]);
	if (names->taken == names->news.size) {
		names->taken = names->news.size = 0;
		return NULL;
	}
	return names->news.data[names->taken++];
}

void runtime_names_deinit(struct runtime_names *names)
{
	vec_for_each (one, &names->slots)
		free_name(*one);
	vec_deinit(&names->slots);
	vec_deinit(&names->vacant);
	vec_deinit(&names->news);
	index_map_deinit(&names->index);
}
