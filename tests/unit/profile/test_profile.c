/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "base/scope.h"
#include "profile/ledger.h"
#include "profile/profile.h"
#include "tests/unit/cases.h"
#include "tests/unit/failing_memory.h"

static uint32_t node_of(struct profile *profile, uint32_t process, uint32_t comm,
			const uint32_t *locations, uint32_t count)
{
	uint32_t node = 12345;

	assert_int_equal(profile_node_of(profile, process, comm, locations, count, &node), 0);
	assert_true(node < profile->nodes.size);
	return node;
}

CASE(an_empty_stack_is_the_root)
{
	CLEANUP(profile_deinit) struct profile profile = {0};
	uint32_t root = node_of(&profile, 7, 3, NULL, 0);

	assert_int_equal(profile.nodes.size, 1);
	assert_int_equal(profile.nodes.data[root].parent, PROFILE_NODE_NONE);
	assert_int_equal(profile.nodes.data[root].location, 7);
	assert_int_equal(profile_comm(&profile, root), 3);
	assert_int_equal(node_of(&profile, 7, 3, NULL, 0), root);
}

CASE(a_process_with_a_new_name_has_a_new_root)
{
	CLEANUP(profile_deinit) struct profile profile = {0};
	uint32_t root = node_of(&profile, 7, 3, NULL, 0);

	assert_int_not_equal(node_of(&profile, 7, 4, NULL, 0), root);
	assert_int_not_equal(node_of(&profile, 8, 3, NULL, 0), root);
	assert_int_equal(profile.nodes.size, 3);
}

CASE(stacks_are_paths)
{
	CLEANUP(profile_deinit) struct profile profile = {0};
	const uint32_t stack[] = {30, 20, 10}; /* leaf first */
	uint32_t node = node_of(&profile, 1, 1, stack, 3);

	for (int i = 0; i < 3; i++) {
		assert_int_equal(profile.nodes.data[node].location, stack[i]);
		assert_true(profile.nodes.data[node].parent < node);
		node = profile.nodes.data[node].parent;
	}
	assert_int_equal(profile.nodes.data[node].parent, PROFILE_NODE_NONE);
	assert_int_equal(profile_comm(&profile, node), 1);
}

CASE(shared_frames_are_shared_nodes)
{
	CLEANUP(profile_deinit) struct profile profile = {0};
	uint32_t a = node_of(&profile, 1, 1, (const uint32_t[]){30, 20, 10}, 3);
	uint32_t b = node_of(&profile, 1, 1, (const uint32_t[]){31, 20, 10}, 3);

	assert_int_not_equal(a, b);
	assert_int_equal(profile.nodes.data[a].parent, profile.nodes.data[b].parent);
	assert_int_equal(profile.nodes.size, 5);
	/* With alternating stacks the cached child is always wrong, but the nodes are right. */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(node_of(&profile, 1, 1, (const uint32_t[]){30, 20, 10}, 3), a);
		assert_int_equal(node_of(&profile, 1, 1, (const uint32_t[]){31, 20, 10}, 3), b);
	}
	assert_int_equal(profile.nodes.size, 5);
}

CASE(a_recursion_is_one_node_a_level)
{
	CLEANUP(profile_deinit) struct profile profile = {0};
	const uint32_t stack[] = {0, 0, 0, 0}; /* location 0 of process 0 with name 0 */
	uint32_t deep = node_of(&profile, 0, 0, stack, 4);
	uint32_t shallow = node_of(&profile, 0, 0, stack, 2);

	assert_int_equal(profile.nodes.size, 5);
	assert_int_equal(profile.nodes.data[profile.nodes.data[deep].parent].parent, shallow);
}

CASE(samples_are_counted_at_their_leaf)
{
	CLEANUP(profile_deinit) struct profile profile = {0};
	uint32_t node = node_of(&profile, 1, 1, (const uint32_t[]){20, 10}, 2);

	profile_count(&profile, node, 1);
	profile_count(&profile, node, 1);
	assert_int_equal(profile.nodes.data[node].self, 2);
	assert_int_equal(profile.nodes.data[profile.nodes.data[node].parent].self, 0);
}

/* Compares the paths of many stacks with a simple model. */
CASE(many_stacks_keep_their_paths)
{
	CLEANUP(profile_deinit) struct profile profile = {0};
	enum { STACKS = 20000, DEPTH = 12 };
	AUTO_FREE uint32_t *nodes = calloc(STACKS, sizeof(*nodes));
	uint32_t random = 1;

	assert_non_null(nodes);
	for (int round = 0; round < 2; round++) {
		random = 1;
		for (int i = 0; i < STACKS; i++) {
			uint32_t stack[DEPTH], node;

			for (int k = 0; k < DEPTH; k++) {
				random = random * 1664525 + 1013904223;
				stack[k] = random >> 29;
			}
			node = node_of(&profile, random >> 30, 1, stack, DEPTH);
			if (round)
				assert_int_equal(node, nodes[i]);
			nodes[i] = node;
			for (int k = 0; k < DEPTH; k++) {
				assert_int_equal(profile.nodes.data[node].location, stack[k]);
				node = profile.nodes.data[node].parent;
			}
			assert_int_equal(profile.nodes.data[node].location, random >> 30);
			assert_int_equal(profile.nodes.data[node].parent, PROFILE_NODE_NONE);
		}
	}
}

static uint64_t taken;

static bool take(void *context, uint64_t bytes)
{
	taken += bytes;
	return true;
}

/* A budget is charged what the tables take: their pages, without those that were never written. */
CASE(a_node_is_charged_what_it_takes)
{
	CLEANUP(profile_deinit) struct profile profile = {.room = {.take = take}};
	uint64_t bytes;

	taken = 0;
	for (uint32_t i = 0; i < 300000; i++)
		node_of(&profile, i / 1000, 1, (const uint32_t[]){i, i % 1000}, 2);
	bytes = profile.nodes.size * sizeof(*profile.nodes.data) +
		profile.roots.size * sizeof(*profile.roots.data) +
		profile.index.capacity * sizeof(*profile.index.slots);
	assert_true(profile.nodes.size > 500000);
	assert_in_range(taken, bytes * 4 / 5, bytes * 6 / 5);
	assert_true(taken < profile.nodes.size * 25);
}

/* Whichever allocation fails, the profile can be used again, and counts nothing twice. */
CASE(memory_is_short)
{
	CLEANUP(profile_deinit) struct profile exact = {0};
	bool failed = true;

	for (uint32_t i = 0; i < 200; i++)
		node_of(&exact, i % 3, i % 2, (const uint32_t[]){i, i / 2, i / 4, 7}, 4);
	for (size_t left = 0; failed; left++) {
		CLEANUP(profile_deinit) struct profile profile = {0};

		allocation_failed = false;
		allocations_left = left;
		for (uint32_t i = 0; i < 200; i++) {
			uint32_t node;
			int err;

			counting_allocations = true;
			err = profile_node_of(&profile, i % 3, i % 2,
					      (const uint32_t[]){i, i / 2, i / 4, 7}, 4, &node);
			counting_allocations = false;
			if (err) {
				assert_int_equal(err, -ENOMEM);
				allocations_left = 1000;
				node = node_of(&profile, i % 3, i % 2,
					       (const uint32_t[]){i, i / 2, i / 4, 7}, 4);
			}
			profile_count(&profile, node, 1);
		}
		failed = allocation_failed;
		assert_int_equal(profile.nodes.size, exact.nodes.size);
		assert_int_equal(profile.roots.size, exact.roots.size);
		for (uint32_t i = 0; i < 200; i++) {
			uint32_t node = node_of(&profile, i % 3, i % 2,
						(const uint32_t[]){i, i / 2, i / 4, 7}, 4);

			assert_int_equal(profile.nodes.data[node].self, 1);
		}
		assert_true(left < 100);
	}
}

CASE(taken_is_the_sum_of_the_fates)
{
	struct ledger ledger = {.samples.fate = {1000, 200, 30, 4}};

	assert_int_equal(ledger_taken(&ledger), 1234);
}
