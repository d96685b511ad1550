/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "agent/clock.h"
#include "agent/publisher/shim_waiting.h"
#include "tests/unit/cases.h"

static bool keep(struct shim_waiting *waiting, uint32_t pid, struct owner_key owner)
{
	const struct jitbpf_mapping mapping = {
		.h = {.size_bytes = sizeof(mapping), .time_ns = clock_now_ns()},
		.pid = pid,
		.inode = 1,
	};

	return shim_waiting_keep(waiting, &mapping, owner, false);
}

/* A user with many copies that do not answer leaves room for those of others. */
CASE(test_owners)
{
	struct shim_waiting waiting = {0};
	uint32_t pid = 0, own = 0;

	while (keep(&waiting, ++pid, (struct owner_key){1000, pid % 3}))
		own++;
	assert_in_range(own, SHIM_WAITING_MAX / 2, SHIM_WAITING_MAX - 8);
	assert_false(keep(&waiting, ++pid, (struct owner_key){1000, 9}));
	assert_true(keep(&waiting, 1, (struct owner_key){1000, 0})); /* it is kept already */
	assert_true(keep(&waiting, ++pid, (struct owner_key){1001, 1}));
	assert_true(keep(&waiting, ++pid, (struct owner_key){0, 1}));
	assert_true(keep(&waiting, ++pid, (struct owner_key){0, 2}));
	assert_int_equal(waiting.size, own + 3);
	shim_waiting_deinit(&waiting);
}
