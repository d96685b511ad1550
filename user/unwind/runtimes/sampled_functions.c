/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/runtimes/sampled_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define SWEEP_SLOTS 1024 /* of one sweep */

/*
 * Of the pauses between tries to read a copy, of which there is no last one: a copy that is not
 * known from its maker can live for microseconds, at one address, so that it takes luck to read
 * one.
 */
#define COPY_DOUBLINGS_MAX 2

static uint64_t hash_of(const struct runtime_function_key *key)
{
	return hash_mix(hash_mix(runtime_function_scope(key->recipe, key->uid), key->object),
			key->check + key->owner);
}

static bool equal(const void *slots, uint32_t slot, const void *key_)
{
	const struct runtime_function_key *key = key_;
	const struct sampled_function *one = ((struct sampled_function *const *)slots)[slot];

	return one->key.object == key->object && one->key.check == key->check &&
	       one->key.owner == key->owner && one->key.recipe == key->recipe &&
	       one->key.uid == key->uid;
}

struct sampled_function *sampled_functions_find(const struct sampled_functions *functions,
						const struct runtime_function_key *key)
{
	uint32_t slot =
		index_map_find(&functions->index, hash_of(key), equal, functions->slots.data, key);

	return slot == INDEX_MAP_NONE ? NULL : functions->slots.data[slot];
}

/* Charge more bytes to the owner of a function. Returns 0 or -EDQUOT. */
static int charge(struct sampled_functions *functions, struct sampled_function *one, uint64_t bytes)
{
	int err = owner_budget_charge(&functions->budget, one->owner, bytes);

	if (err)
		functions->no_memory++;
	else
		one->bytes += bytes;
	return err;
}

static void free_function(struct sampled_functions *functions, struct sampled_function *one)
{
	if (!one)
		return;
	if (one->owner) {
		owner_budget_release(&functions->budget, one->owner, one->bytes);
		owner_budget_put(&functions->budget, one->owner);
	}
	runtime_names_put(&functions->names, one->name);
	runtime_function_deinit(&one->lines);
	free(one);
}

static int add(struct sampled_functions *functions, struct sampled_function *one,
	       struct owner_key owner)
{
	uint32_t slot;
	int err = owner_budget_get(&functions->budget, owner, &one->owner);

	err = err ?: charge(functions, one, sizeof(*one));
	err = err ?: vec_reserve(&functions->vacant, functions->slots.size + 1);
	if (!err && !functions->vacant.size) {
		err = vec_push(&functions->slots, NULL);
		if (!err)
			functions->vacant.data[functions->vacant.size++] =
				(uint32_t)functions->slots.size - 1;
	}
	if (err)
		return err;
	slot = functions->vacant.data[functions->vacant.size - 1];
	err = index_map_insert(&functions->index, hash_of(&one->key), slot);
	if (err)
		return err;
	functions->vacant.size--;
	functions->slots.data[slot] = one;
	return 0;
}

int sampled_functions_add(struct sampled_functions *functions,
			  const struct runtime_function_key *key, struct owner_key owner,
			  uint64_t now_ns, struct sampled_function **ret)
{
	struct sampled_function *one = calloc(1, sizeof(*one));
	int err;

	if (!one)
		return -ENOMEM;
	one->key = *key;
	one->used_ns = now_ns;
	err = add(functions, one, owner);
	if (err) {
		free_function(functions, one);
		return err;
	}
	*ret = one;
	return 0;
}

bool sampled_function_is_due(const struct sampled_function *one, uint64_t object, uint64_t now_ns)
{
	uint32_t doublings;

	if (one->name || one->pending)
		return false;
	if (one->object != object)
		return true;
	doublings = one->tries - 1;
	if (!one->key.object)
		doublings = doublings < COPY_DOUBLINGS_MAX ? doublings : COPY_DOUBLINGS_MAX;
	return doublings < RUNTIME_FUNCTION_TRIES - 1 &&
	       one->tried_ns + (RUNTIME_FUNCTION_PAUSE_NS << doublings) <= now_ns;
}

int sampled_functions_put(struct sampled_functions *functions, struct sampled_function *one,
			  const struct engine *engine, uint32_t pid,
			  const struct runtime_function *function)
{
	size_t lines = function->lines.size;
	const char *file = function->file ?: "", *name = function->name ?: "";
	int err;

	if (one->name)
		return 0;
	err = charge(functions, one,
		     strlen(name) + strlen(file) + lines * sizeof(struct runtime_line));
	err = err ?: vec_reserve(&one->lines.lines, lines);
	err = err
		      ?: runtime_names_get(&functions->names, engine, name, file,
					   function->first_line, one->owner->key.uid, pid,
					   &one->name);
	if (err)
		return err;
	one->lines.first_line = function->first_line;
	one->lines.code = function->code;
	if (lines)
		memcpy(one->lines.lines.data, function->lines.data,
		       lines * sizeof(struct runtime_line));
	one->lines.lines.size = lines;
	return 0;
}

static void drop(struct sampled_functions *functions, uint32_t slot)
{
	struct sampled_function *one = functions->slots.data[slot];

	index_map_remove(&functions->index, hash_of(&one->key), slot);
	functions->slots.data[slot] = NULL;
	functions->vacant.data[functions->vacant.size++] = slot;
	free_function(functions, one);
}

static bool is_kept(const struct sampled_functions *functions, const struct sampled_function *one,
		    uint64_t now_ns)
{
	const struct runtime_function_key maker = {
		.recipe = one->key.recipe,
		.uid = one->key.uid,
		.check = one->maker,
	};

	return one->pending || one->used_ns + RUNTIME_FUNCTION_KEEP_NS >= now_ns ||
	       (one->maker && sampled_functions_find(functions, &maker));
}

void sampled_functions_sweep(struct sampled_functions *functions, uint64_t now_ns)
{
	size_t count = functions->slots.size;

	for (uint32_t i = 0; i < SWEEP_SLOTS && i < count; i++) {
		uint32_t slot = (uint32_t)(functions->swept++ % count);
		const struct sampled_function *one = functions->slots.data[slot];

		if (one && !is_kept(functions, one, now_ns))
			drop(functions, slot);
	}
}

void sampled_functions_deinit(struct sampled_functions *functions)
{
	vec_for_each (one, &functions->slots)
		free_function(functions, *one);
	vec_deinit(&functions->slots);
	vec_deinit(&functions->vacant);
	index_map_deinit(&functions->index);
	owner_budget_deinit(&functions->budget);
	runtime_names_deinit(&functions->names);
}
