/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The shape of the tree is private, so the source is included here. */
#include <stdint.h>

#include "state/space/cow_tree.c"
#include "tests/unit/cases.h"
#include "tests/unit/state/counted_value.h"
#include "tests/unit/state/space_model.h"

#define KEYS 512

/* Check order, levels and counts of a subtree. Returns the number of items. */
static size_t check_shape(const struct cow_tree *tree, const struct cow_node *node, uint64_t low,
			  uint64_t high)
{
	size_t count = 0;

	if (!node)
		return 0;
	assert_true(node->refs >= 1);
	assert_in_range(node->count, 1, entries_max(tree, node));
	for (size_t i = 0; i < node->count; i++) {
		uint64_t start = start_at(tree, node, i),
			 end = i + 1u < node->count ? start_at(tree, node, i + 1) : high;

		assert_true(start >= low && start < end);
		low = end;
		if (!node->level) {
			assert_true(end_of(tree, item_at(tree, node, i)) <= end);
			count++;
			continue;
		}
		assert_int_equal(node->children[i].node->level, node->level - 1);
		assert_true(start_at(tree, node->children[i].node, 0) == start);
		count += check_shape(tree, node->children[i].node, start, end);
	}
	return count;
}

static size_t cells_used(const struct cow_tree *tree)
{
	return tree->pool->cells - tree->pool->free_count;
}

static void check_tree(const struct cow_tree *tree, struct space_value *const *expected)
{
	size_t count = 0;

	for (uint64_t key = 0; key < KEYS; key++) {
		const struct cow_item *next = cow_tree_next(tree, key * 2);
		const struct cow_item *last = cow_tree_last(tree, key * 2 + 1);

		if (!expected[key]) {
			assert_true(!next || next->start > key * 2);
			assert_true(!last || last->start < key * 2);
			continue;
		}
		assert_ptr_equal(next->value, expected[key]);
		assert_ptr_equal(next, last);
		count++;
	}
	assert_int_equal(tree->size, count);
	assert_int_equal(check_shape(tree, tree->root, 0, UINT64_MAX), count);
}

/* Reserve exactly the cells that a change is documented to need. Returns the other free cells. */
static struct cow_cell *reserve_exactly(struct cow_tree *tree, size_t removals, size_t insertions)
{
	struct cow_cell *others = NULL;

	assert_int_equal(cow_tree_reserve(tree, removals, insertions), 0);
	while (tree->pool->free_count > nodes_wanted(tree, removals, insertions)) {
		struct cow_cell *cell = cow_pool_take(tree->pool);

		cell->next = others;
		others = cell;
	}
	return others;
}

static void give_back(struct cow_tree *tree, struct cow_cell *others)
{
	while (others) {
		struct cow_cell *cell = others;

		others = cell->next;
		cow_pool_give(tree->pool, cell);
	}
}

static void flip(struct cow_tree *tree, struct space_value **expected, uint64_t key, size_t *living)
{
	struct cow_item item = {.start = key * 2, .end = key * 2 + 1};
	struct cow_cell *others = reserve_exactly(tree, expected[key] != NULL, !expected[key]);

	if (expected[key]) {
		item = cow_tree_remove(tree, key * 2);
		assert_ptr_equal(item.value, expected[key]);
		space_value_put(item.value);
		expected[key] = NULL;
	} else {
		item.value = expected[key] = counted_create(living);
		cow_tree_insert(tree, &item);
	}
	give_back(tree, others);
}

static void change_clones(bool keys)
{
	static struct space_value *expected[4][KEYS];
	struct cow_tree trees[4] = {{.keys = keys}, {.keys = keys}, {.keys = keys}, {.keys = keys}};
	struct dice dice = {1};
	size_t living = 0;

	for (size_t step = 0; step < 40000; step++) {
		size_t which = dice_roll(&dice, 4), other = dice_roll(&dice, 4);

		if (dice_roll(&dice, 200) || which == other) {
			flip(&trees[which], expected[which], dice_roll(&dice, KEYS), &living);
		} else {
			cow_tree_deinit(&trees[other]);
			trees[other] = cow_tree_clone(&trees[which]);
			memcpy(expected[other], expected[which], sizeof(expected[which]));
		}
		if (step % 50 == 0) {
			for (size_t i = 0; i < 4; i++)
				check_tree(&trees[i], expected[i]);
		}
	}
	for (size_t i = 0; i < 4; i++)
		cow_tree_deinit(&trees[i]);
	assert_int_equal(living, 0);
	memset(expected, 0, sizeof(expected));
}

/* Trees that are cloned and changed at random stay balanced and independent. */
CASE(test_random_clones)
{
	change_clones(false);
	change_clones(true);
}

static void insert_key(struct cow_tree *tree, uint64_t key, size_t *living)
{
	struct cow_item item = {.start = key, .end = key + 1, .value = counted_create(living)};
	struct cow_cell *others = reserve_exactly(tree, 0, 1);

	cow_tree_insert(tree, &item);
	give_back(tree, others);
}

enum order { ASCENDING, DESCENDING, FROM_BOTH_ENDS, INWARDS, RANDOM, ORDERS };

static uint64_t key_of(enum order order, size_t i, size_t count)
{
	switch (order) {
	case ASCENDING:
		return i;
	case DESCENDING:
		return count - 1 - i;
	case FROM_BOTH_ENDS: /* outwards */
		return i % 2 ? count + i : count - i;
	case INWARDS:
		return i % 2 ? i : 2 * count - i;
	default:
		return i * 2654435761u % 4294967291u;
	}
}

/* The most bytes of an item, in each order that a hostile process could send. */
static const size_t bytes_max[ORDERS][2] = {
	/* ranges, keys */
	[ASCENDING] = {36, 19}, [DESCENDING] = {38, 21}, [FROM_BOTH_ENDS] = {38, 21},
	[INWARDS] = {76, 38},	[RANDOM] = {54, 28},
};

CASE(test_hostile_order)
{
	const size_t count = 20000;

	for (size_t i = 0; i < ORDERS * 2; i++) {
		struct cow_tree tree = {.keys = i % 2};
		enum order order = i / 2;
		size_t living = 0, bytes;

		for (size_t k = 0; k < count; k++)
			insert_key(&tree, key_of(order, k, count), &living);
		assert_int_equal(check_shape(&tree, tree.root, 0, UINT64_MAX), count);
		bytes = cells_used(&tree) * COW_CELL_BYTES / count;
		assert_in_range(bytes, 16, bytes_max[order][i % 2]);
		cow_tree_deinit(&tree);
		assert_true(tree.keys == i % 2);
		assert_int_equal(living, 0);
	}
}

/* Removals leave no more than a third of the room unused, whatever is removed. */
CASE(test_removals)
{
	const size_t count = 20000;

	for (size_t i = 0; i < 8; i++) {
		struct cow_tree tree = {.keys = i % 2};
		size_t living = 0, left = count, step = 2 + i / 2 * 5;

		for (size_t k = 0; k < count; k++)
			insert_key(&tree, k, &living);
		/* Of each `step` neighbours, one stays. */
		for (size_t k = 0; k < count; k++) {
			struct cow_cell *others;

			if (!(k % step))
				continue;
			others = reserve_exactly(&tree, 1, 0);
			space_value_put(cow_tree_remove(&tree, k).value);
			give_back(&tree, others);
			left--;
		}
		assert_int_equal(tree.size, left);
		assert_int_equal(check_shape(&tree, tree.root, 0, UINT64_MAX), left);
		assert_in_range(cells_used(&tree) * COW_CELL_BYTES / left, 16,
				3 * (i % 2 ? 16 : 32));
		for (size_t k = 0; k < count; k += step)
			space_value_put(cow_tree_remove(&tree, k).value);
		assert_null(tree.root);
		assert_int_equal(cells_used(&tree), 0);
		cow_tree_deinit(&tree);
		assert_int_equal(living, 0);
	}
}

/* A change of a clone copies the path to the changed node, not the tree. */
CASE(test_clone_shares)
{
	static struct space_value *expected[KEYS];
	struct cow_tree tree = {0}, clone;
	size_t living = 0, copied;

	for (uint64_t key = 0; key < KEYS; key += 2)
		flip(&tree, expected, key, &living);
	clone = cow_tree_clone(&tree);
	assert_ptr_equal(clone.root, tree.root);
	assert_int_equal(cow_tree_reserve(&clone, 0, 1), 0);
	copied = clone.pool->free_count;
	flip(&clone, expected, 1, &living);
	copied -= clone.pool->free_count;
	assert_in_range(copied, 2, nodes_wanted(&clone, 0, 1));
	cow_tree_deinit(&tree);
	check_tree(&clone, expected);
	cow_tree_deinit(&clone);
	assert_int_equal(living, 0);
}
