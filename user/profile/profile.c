/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/profile.h"

#include <errno.h>

#include "base/hash.h"
#include "base/intern.h"

static bool equal(const void *items, uint32_t item, const void *key_)
{
	const struct profile_node *node = (const struct profile_node *)items + item;
	const struct profile_node *key = key_;

	return node->parent == key->parent && node->location == key->location &&
	       node->comm == key->comm;
}

static int find_or_add(struct profile *profile, const struct profile_node *key, uint32_t *ret)
{
	uint64_t hash = hash_mix((uint64_t)key->parent << 32 | key->location, key->comm);
	int err = vec_intern_in(&profile->room, PROFILE_NODE_BYTES, &profile->nodes,
				&profile->index, hash, equal, key, ret);

	return err < 0 ? err : 0;
}

int profile_node_of(struct profile *profile, uint32_t process, uint32_t comm,
		    const uint32_t *locations, uint32_t count, uint32_t *ret)
{
	struct profile_node key = {.parent = PROFILE_NODE_NONE, .location = process, .comm = comm};
	uint32_t node;
	int err = find_or_add(profile, &key, &node);

	if (err)
		return err;
	while (count--) {
		const struct profile_node *nodes = profile->nodes.data;
		uint32_t recent = nodes[node].recent;

		/*
		 * Stacks repeat, most of all near their roots. So the child
		 * that was found last is likely, and checking it needs no hash.
		 * Any node number is a valid guess.
		 */
		if (nodes[recent].parent == node && nodes[recent].location == locations[count]) {
			node = recent;
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
		profile->nodes.data[key.parent].recent = node;
	}
	*ret = node;
	return 0;
}

int profile_child_of(struct profile *profile, uint32_t node, uint32_t location, uint32_t *ret)
{
	const struct profile_node key = {
		.parent = node,
		.location = location,
		.comm = profile->nodes.data[node].comm,
	};

	return find_or_add(profile, &key, ret);
}

void profile_deinit(struct profile *profile)
{
	vec_deinit(&profile->nodes);
	index_map_deinit(&profile->index);
}
