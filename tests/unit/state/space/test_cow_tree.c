/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The shape of the tree is private, so the source is included here. */
#include <stdint.h>

#include "state/space/cow_tree.c"
#include "tests/unit/cases.h"
#include "tests/unit/state/counted_value.h"
#include "tests/unit/state/space_model.h"

#define KEYS 512

/* Check order, heights and balance of a subtree. Returns the number of nodes. */
static size_t check_shape(const struct cow_node *node, uint64_t low, uint64_t high)
{
	size_t count;

	if (!node)
		return 0;
	assert_true(node->refs >= 1);
	assert_true(node->item.start >= low && node->item.end <= high);
	assert_true(height(node->left) <= height(node->right) + 1);
	assert_true(height(node->right) <= height(node->left) + 1);
	count = 1 + check_shape(node->left, low, node->item.start);
	count += check_shape(node->right, node->item.end, high);
	assert_int_equal(node->height,
			 1 + (height(node->left) > height(node->right) ? height(node->left)
								       : height(node->right)));
	return count;
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
	assert_int_equal(check_shape(tree->root, 0, UINT64_MAX), count);
	if (count)
		assert_true(tree->root->height <= height_limit(count));
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
	while (others) {
		struct cow_cell *cell = others;

		others = cell->next;
		cow_pool_give(tree->pool, cell);
	}
}

/* Trees that are cloned and changed at random stay balanced and independent. */
CASE(test_random_clones)
{
	static struct space_value *expected[4][KEYS];
	struct cow_tree trees[4] = {0};
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
}

/* Ascending addresses, or addresses from both ends, as a hostile process would send. */
CASE(test_hostile_order)
{
	struct cow_tree tree = {0};
	size_t living = 0, count = 20000;

	for (size_t i = 0; i < count; i++) {
		uint64_t key = i % 2 ? i : 2 * count - i;
		struct cow_item item = {
			.start = key, .end = key + 1, .value = counted_create(&living)};

		assert_int_equal(cow_tree_reserve(&tree, 0, 1), 0);
		cow_tree_insert(&tree, &item);
	}
	assert_int_equal(check_shape(tree.root, 0, UINT64_MAX), count);
	assert_true(tree.root->height <= height_limit(count));
	cow_tree_deinit(&tree);
	assert_int_equal(living, 0);
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
	assert_in_range(copied, 2, 1 + height_limit(KEYS / 2));
	cow_tree_deinit(&tree);
	check_tree(&clone, expected);
	cow_tree_deinit(&clone);
	assert_int_equal(living, 0);
}
