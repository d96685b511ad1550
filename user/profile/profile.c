/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/search.h"

#define PROFILE_RECENT 4096 /* a power of two */

/* A node to be found or added. comm: that of a root; else 0. */
struct key {
	uint32_t parent, location, comm;
};

static uint64_t hash_of(const struct key *key)
{
	return hash_mix((uint64_t)key->parent << 32 | key->location, key->comm);
}

static struct key key_of(const struct profile *profile, uint32_t number)
{
	const struct profile_node *node = &profile->nodes.data[number];
	bool is_root = node->parent == PROFILE_NODE_NONE;

	return (struct key){node->parent, node->location,
			    is_root ? profile_comm(profile, number) : 0};
}

static uint64_t hash_of_node(const void *profile, uint32_t number)
{
	const struct key key = key_of(profile, number);

	return hash_of(&key);
}

static bool equal(const void *profile_, uint32_t number, const void *key_)
{
	const struct profile *profile = profile_;
	const struct profile_node *node = &profile->nodes.data[number];
	const struct key *key = key_;

	return node->parent == key->parent && node->location == key->location &&
	       (key->parent != PROFILE_NODE_NONE || profile_comm(profile, number) == key->comm);
}

uint32_t profile_comm(const struct profile *profile, uint32_t root)
{
	const struct profile_root *roots = profile->roots.data;

	return roots[partition_point((size_t)0, profile->roots.size, i, roots[i].node < root)].comm;
}

int profile_push_root(struct profile *profile, uint32_t process, uint32_t comm)
{
	uint32_t number = (uint32_t)profile->nodes.size;

	if (vec_reserve(&profile->nodes, number + 1ul) ||
	    vec_push(&profile->roots, ((struct profile_root){number, comm})))
		return -ENOMEM;
	profile->nodes.data[profile->nodes.size++] =
		(struct profile_node){.parent = PROFILE_NODE_NONE, .location = process};
	return 0;
}

static int add(struct profile *profile, const struct key *key, uint64_t hash, uint32_t *ret)
{
	bool is_root = key->parent == PROFILE_NODE_NONE;
	uint32_t number = (uint32_t)profile->nodes.size;

	if (!room_take(&profile->room,
		       PROFILE_NODE_BYTES + (is_root ? sizeof(struct profile_root) : 0)))
		return -EDQUOT;
	if (!profile->recent)
		profile->recent = calloc(PROFILE_RECENT, sizeof(*profile->recent));
	if (!profile->recent || vec_reserve(&profile->nodes, number + 1ul) ||
	    vec_reserve(&profile->roots, profile->roots.size + is_root) ||
	    item_index_insert(&profile->index, hash, hash_of_node, profile))
		return -ENOMEM;
	profile->nodes.data[profile->nodes.size++] =
		(struct profile_node){.parent = key->parent, .location = key->location};
	if (is_root)
		profile->roots.data[profile->roots.size++] =
			(struct profile_root){number, key->comm};
	*ret = number;
	return 0;
}

static int find_or_add(struct profile *profile, const struct key *key, uint32_t *ret)
{
	uint64_t hash = hash_of(key);
	uint32_t number = item_index_find(&profile->index, hash, equal, profile, key);

	if (number == INDEX_MAP_NONE)
		return add(profile, key, hash, ret);
	*ret = number;
	return 0;
}

int profile_node_of(struct profile *profile, uint32_t process, uint32_t comm,
		    const uint32_t *locations, uint32_t count, uint32_t *ret)
{
	struct key key = {PROFILE_NODE_NONE, process, comm};
	uint32_t node;
	int err = find_or_add(profile, &key, &node);

	if (err)
		return err;
	key.comm = 0;
	while (count--) {
		const struct profile_node *nodes = profile->nodes.data;
		uint32_t *recent = &profile->recent[node & (PROFILE_RECENT - 1)];

		/*
		 * Stacks repeat, most of all near their roots. So the child
		 * that was found last is likely, and checking it needs no hash.
		 * Any node number is a valid guess.
		 */
		if (nodes[*recent].parent == node && nodes[*recent].location == locations[count]) {
			node = *recent;
			continue;
		}
		key.parent = node;
		key.location = locations[count];
		err = key.location == PROFILE_NO_LOCATION ? -EDQUOT
							  : find_or_add(profile, &key, &node);
		if (err == -EDQUOT) {
			*ret = node;
			return (int)count + 1;
		}
		if (err)
			return err;
		*recent = node;
	}
	*ret = node;
	return 0;
}

int profile_child_of(struct profile *profile, uint32_t node, uint32_t location, uint32_t *ret)
{
	const struct key key = {node, location, 0};

	return find_or_add(profile, &key, ret);
}

void profile_close(struct profile *profile)
{
	item_index_deinit(&profile->index);
	free(profile->recent);
	profile->recent = NULL;
}

void profile_deinit(struct profile *profile)
{
	profile_close(profile);
	vec_deinit(&profile->nodes);
	vec_deinit(&profile->roots);
}
