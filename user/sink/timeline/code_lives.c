/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/timeline/code_lives.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "base/scope.h"
#include "base/sort_keys.h"
#include "state/code/code_region.h"
#include "symbolize/name/method_name.h"

#define KEEP_OF_FOUR 3 /* quarters of the budget that are left after lives were forgotten */

int code_lives_init(struct code_lives *lives, uint64_t max_bytes)
{
	*lives = (struct code_lives){.budget.limit = max_bytes};
	return string_pool_create(&lives->strings);
}

void code_lives_deinit(struct code_lives *lives)
{
	vec_for_each (life, &lives->lives) {
		owner_budget_release(&lives->budget, life->owner, life->cost);
		owner_budget_put(&lives->budget, life->owner);
	}
	vec_deinit(&lives->lives);
	index_map_deinit(&lives->identities);
	index_map_deinit(&lives->processes);
	owner_budget_deinit(&lives->budget);
	string_pool_destroy(lives->strings);
}

void code_left_out_add(struct code_left_out *left_out, uint64_t bytes)
{
	left_out->lives++;
	left_out->bytes +=
		bytes < UINT64_MAX - left_out->bytes ? bytes : UINT64_MAX - left_out->bytes;
}

/* --- indexes ------------------------------------------------------------------------------ */

static uint64_t identity_hash(uint64_t identity)
{
	return hash_mix(identity, 1);
}

static uint64_t process_hash(uint32_t process)
{
	return hash_mix(process, 2);
}

static bool has_identity(const void *items, uint32_t item, const void *key)
{
	return ((const struct code_life *)items)[item].identity == *(const uint64_t *)key;
}

static bool has_process(const void *items, uint32_t item, const void *key)
{
	return ((const struct code_life *)items)[item].process == *(const uint32_t *)key;
}

static struct code_life *find(const struct code_lives *lives, uint64_t identity)
{
	uint32_t number = index_map_find(&lives->identities, identity_hash(identity), has_identity,
					 lives->lives.data, &identity);

	return number == INDEX_MAP_NONE ? NULL : &lives->lives.data[number];
}

const struct code_life *code_lives_find(const struct code_lives *lives, uint64_t identity)
{
	return find(lives, identity);
}

/* Enter a life, which is in the vec, into the indexes. */
static int index_life(struct code_lives *lives, uint32_t number)
{
	struct code_life *life = &lives->lives.data[number];
	uint64_t hash = process_hash(life->process);
	uint32_t before = index_map_find(&lives->processes, hash, has_process, lives->lives.data,
					 &life->process);

	life->before = before == INDEX_MAP_NONE ? CODE_LIFE_NONE : before;
	if (index_map_insert(&lives->identities, identity_hash(life->identity), number))
		return -ENOMEM;
	if (before != INDEX_MAP_NONE)
		index_map_remove(&lives->processes, hash, before);
	if (!index_map_insert(&lives->processes, hash, number))
		return 0;
	index_map_remove(&lives->identities, identity_hash(life->identity), number);
	return -ENOMEM;
}

/* --- the budget --------------------------------------------------------------------------- */

/* Halve the amount of the largest owner, again and again, until the sum is small enough. */
static void share_anew(struct code_lives *lives)
{
	struct owner_budget *budget = &lives->budget;

	while (budget->used > budget->limit / 4 * KEEP_OF_FOUR) {
		struct budget_owner *owner =
			owner_budget_largest(budget, lives->lives.data[0].owner, 0);

		if (!owner->used)
			break;
		owner_budget_release(budget, owner, (owner->used + 1) / 2);
	}
}

/* Large regions first, and of equal ones the newest: order is ascending, to be read backwards. */
static struct sort_key *by_size(const struct code_lives *lives)
{
	size_t count = lives->lives.size;
	struct sort_key *order = calloc(count ?: 1, sizeof(*order));

	for (uint32_t i = 0; order && i < count; i++)
		order[i] = (struct sort_key){.key = lives->lives.data[i].size_bytes, .item = i};
	if (order && sort_keys(order, count)) {
		free(order);
		return NULL;
	}
	return order;
}

/*
 * Choose the lives that stay: large regions first, as far as the amounts of their owners allow. The
 * cost of the others becomes 0.
 */
static void choose(struct code_lives *lives, const struct sort_key *order)
{
	for (size_t i = lives->lives.size; i--;) {
		struct code_life *life = &lives->lives.data[order[i].item];

		if (life->cost > life->owner->used) {
			code_left_out_add(&lives->forgotten, life->size_bytes);
			life->cost = 0;
		} else {
			owner_budget_release(&lives->budget, life->owner, life->cost);
		}
	}
	vec_for_each (life, &lives->lives)
		owner_budget_release(&lives->budget, life->owner, life->owner->used);
	vec_for_each (life, &lives->lives) {
		if (life->cost)
			owner_budget_add(&lives->budget, life->owner, life->cost);
		else
			owner_budget_put(&lives->budget, life->owner);
	}
}

/* Move a string of a life into another pool. */
static int move_string(const struct code_lives *lives, struct string_pool *to, uint32_t *number)
{
	const char *text = string_pool_get(lives->strings, *number);

	return string_pool_add(to, text, strlen(text), number);
}

static int move_strings(const struct code_lives *lives, struct string_pool *to,
			struct code_life *life)
{
	return move_string(lives, to, &life->name)
		       ?: move_string(lives, to, &life->class_name)
		       ?: move_string(lives, to, &life->module)
		       ?: move_string(lives, to, &life->comm);
}

/* Remove a chosen life, since there is no memory for its names or indexes. */
static void drop(struct code_lives *lives, struct code_life *life)
{
	code_left_out_add(&lives->forgotten, life->size_bytes);
	owner_budget_release(&lives->budget, life->owner, life->cost);
	owner_budget_put(&lives->budget, life->owner);
}

/* Remove the lives of cost 0. The others get new strings and indexes. */
static void compact(struct code_lives *lives, struct string_pool *strings)
{
	size_t count = lives->lives.size;

	index_map_deinit(&lives->identities);
	index_map_deinit(&lives->processes);
	lives->lives.size = 0;
	for (size_t i = 0; i < count; i++) {
		struct code_life life = lives->lives.data[i];

		if (!life.cost)
			continue;
		if (move_strings(lives, strings, &life)) {
			drop(lives, &life);
			continue;
		}
		lives->lives.data[lives->lives.size++] = life;
		if (index_life(lives, (uint32_t)lives->lives.size - 1))
			drop(lives, &lives->lives.data[--lives->lives.size]);
	}
	string_pool_destroy(lives->strings);
	lives->strings = strings;
}

/* Returns false if there is no memory for it. */
static bool forget(struct code_lives *lives)
{
	AUTO_FREE struct sort_key *order = by_size(lives);
	struct string_pool *strings;

	if (!order || string_pool_create(&strings))
		return false;
	share_anew(lives);
	choose(lives, order);
	compact(lives, strings);
	return true;
}

/* --- changes ------------------------------------------------------------------------------ */

/* Names are cut where method_name() cuts them. */
static int keep(struct code_lives *lives, const char *text, uint32_t *ret, uint32_t *cost)
{
	size_t size = strnlen(text, METHOD_NAME_PART_MAX);

	*cost += (uint32_t)size;
	return string_pool_add(lives->strings, text, size, ret);
}

static int set_names(struct code_lives *lives, const struct code_region *region,
		     struct code_life *life)
{
	uint32_t cost = CODE_LIFE_BYTES;
	int err = keep(lives, region->name, &life->name, &cost);

	err = err ?: keep(lives, code_region_class(region), &life->class_name, &cost);
	err = err ?: keep(lives, code_region_module(region), &life->module, &cost);
	life->cost = cost;
	return err;
}

/* The name of a region can become known with a later version. */
static void renew(struct code_lives *lives, const struct code_region *region,
		  struct code_life *life)
{
	struct code_life named = *life;

	if (set_names(lives, region, &named))
		return;
	owner_budget_release(&lives->budget, life->owner, life->cost);
	owner_budget_add(&lives->budget, life->owner, named.cost);
	*life = named;
}

/* Mostly, the life before of the process has the owner. */
static int get_owner(struct code_lives *lives, const struct sink_region *change,
		     struct budget_owner **ret)
{
	uint32_t number = index_map_find(&lives->processes, process_hash(change->process),
					 has_process, lives->lives.data, &change->process);
	struct budget_owner *owner =
		number == INDEX_MAP_NONE ? NULL : lives->lives.data[number].owner;

	if (!owner || owner->key.uid != change->owner.uid ||
	    owner->key.cgroup != change->owner.cgroup)
		return owner_budget_get(&lives->budget, change->owner, ret);
	owner->refs++;
	*ret = owner;
	return 0;
}

static int add(struct code_lives *lives, const struct sink_region *change)
{
	const struct code_region *region = change->region;
	const struct code_claim *claim = &region->claims[0];
	struct code_life life = {
		.identity = code_region_identity(region),
		.address = region->address,
		.size_bytes = region->size_bytes,
		.loaded_ns = claim->before_run ? 0 : claim->time_ns,
		.ended_ns = UINT64_MAX,
		.pid = change->pid,
		.process = change->process,
		.number = lives->numbers + 1 ?: 1,
		.holders = 1,
		.shared = change->shared,
	};
	uint32_t cost = 0;
	int err;

	if (lives->lives.size >= INDEX_MAP_NONE - 1 ||
	    vec_reserve(&lives->lives, lives->lives.size + 1))
		return -ENOMEM;
	err = set_names(lives, region, &life);
	err = err ?: keep(lives, change->comm, &life.comm, &cost);
	err = err ?: get_owner(lives, change, &life.owner);
	if (err)
		return err;
	lives->lives.data[lives->lives.size++] = life;
	err = index_life(lives, (uint32_t)lives->lives.size - 1);
	if (err) {
		lives->lives.size--;
		owner_budget_put(&lives->budget, life.owner);
		return err;
	}
	lives->numbers = life.number;
	owner_budget_add(&lives->budget, life.owner, life.cost);
	return 0;
}

static void load(struct code_lives *lives, const struct sink_region *change)
{
	struct code_life *life = find(lives, code_region_identity(change->region));

	if (life) {
		life->holders++;
		life->ended_ns = UINT64_MAX;
		renew(lives, change->region, life);
	}
	if ((!life && add(lives, change)) ||
	    (lives->budget.used > lives->budget.limit && !forget(lives)))
		code_left_out_add(&lives->forgotten, change->region->size_bytes);
}

static void end(struct code_life *life, uint64_t time_ns)
{
	life->holders = 0;
	life->ended_ns = time_ns > life->loaded_ns ? time_ns : life->loaded_ns;
}

static void end_process(struct code_lives *lives, const struct sink_region *change)
{
	uint32_t number = index_map_find(&lives->processes, process_hash(change->process),
					 has_process, lives->lives.data, &change->process);

	for (; number != INDEX_MAP_NONE && number != CODE_LIFE_NONE;
	     number = lives->lives.data[number].before) {
		struct code_life *life = &lives->lives.data[number];

		if (life->holders && !life->shared)
			end(life, change->time_ns);
	}
}

void code_lives_take(struct code_lives *lives, const struct sink_region *change)
{
	struct code_life *life;

	if (!change->region) {
		end_process(lives, change);
	} else if (!change->ended) {
		load(lives, change);
	} else {
		life = find(lives, code_region_identity(change->region));
		if (life && life->holders && !--life->holders)
			end(life, change->time_ns);
	}
}
