/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/ip_tree.h"

#include "base/hash.h"
#include "base/intern.h"

static bool equal(const void *items, uint32_t item, const void *key_)
{
	const struct ip_tree_node *node = (const struct ip_tree_node *)items + item;
	const struct ip_tree_node *key = key_;

	return node->ip == key->ip && node->parent == key->parent;
}

static int find_or_add(struct ip_tree *tree, const struct room *room,
		       const struct ip_tree_node *key, uint32_t *ret)
{
	uint64_t hash = hash_mix(key->ip, key->parent);
	int err = vec_intern_in(room, IP_TREE_NODE_BYTES, &tree->nodes, &tree->index, hash, equal,
				key, ret);

	return err < 0 ? err : 0;
}

int ip_tree_add(struct ip_tree *tree, const struct room *room, const uint64_t *addresses,
		uint32_t count, uint32_t *ret)
{
	uint32_t node = IP_TREE_NONE;
	int err;

	while (count--) {
		struct ip_tree_node key = {.ip = addresses[count], .parent = node};

		if (node != IP_TREE_NONE) {
			const struct ip_tree_node *nodes = tree->nodes.data;
			uint32_t recent = nodes[node].recent;

			/* As in profile_node_of(): the child that was found last is likely. */
			if (nodes[recent].parent == node && nodes[recent].ip == key.ip) {
				node = recent;
				continue;
			}
		}
		err = find_or_add(tree, room, &key, &node);
		if (err)
			return err;
		if (key.parent != IP_TREE_NONE)
			tree->nodes.data[key.parent].recent = node;
	}
	*ret = node;
	return 0;
}

void ip_tree_deinit(struct ip_tree *tree)
{
	vec_deinit(&tree->nodes);
	index_map_deinit(&tree->index);
}
