/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "agent/publisher/shim_unheard.h"
#include "tests/unit/cases.h"

#define ATTACHED 1000

static void fork_process(struct shim_unheard *unheard, uint32_t parent, uint32_t pid,
			 uint64_t time_ns)
{
	struct jitbpf_task fork = {.h.time_ns = time_ns, .pid = pid, .parent_pid = parent};

	assert_int_equal(shim_unheard_fork(unheard, &fork), 0);
}

/* Process 7 maps a copy. */
static int map(struct shim_unheard *unheard, bool wanted)
{
	return shim_unheard_map(unheard, &(struct shim_mapper){.pid = 7,
							       .wanted = wanted,
							       .attached_ns = ATTACHED,
							       .from_ns = 600});
}

/* End a drain that began at round_ns. Returns how many journals are to be read. */
static size_t settle(struct shim_unheard *unheard, uint64_t round_ns)
{
	size_t wanted = 0;

	assert_int_equal(shim_unheard_settle(unheard), 0);
	vec_for_each (mapper, &unheard->mappers) {
		wanted += mapper->wanted;
		mapper->wanted = false;
	}
	shim_unheard_forget(unheard, round_ns);
	return wanted;
}

CASE(test_mapper_is_read_once)
{
	struct shim_unheard unheard = {0};

	assert_int_equal(map(&unheard, true), 0);
	assert_int_equal(map(&unheard, true), 0);
	assert_int_equal(settle(&unheard, 900), 1);
	assert_int_equal(settle(&unheard, 1100), 0);
	assert_int_equal(unheard.mappers.size, 0);
	shim_unheard_deinit(&unheard);
}

/* Of a process whose journal is read otherwise, only the children count. */
CASE(test_children)
{
	struct shim_unheard unheard = {0};

	assert_int_equal(map(&unheard, false), 0);
	fork_process(&unheard, 8, 9, 800); /* read before the fork that made its parent */
	fork_process(&unheard, 7, 8, 700);
	fork_process(&unheard, 7, 7, 750); /* a thread */
	fork_process(&unheard, 7, 10, ATTACHED + 1);
	fork_process(&unheard, 1, 11, 700);
	assert_int_equal(settle(&unheard, 900), 2);
	shim_unheard_deinit(&unheard);
}

/* A journal is read as of the mapping, a child's as of the fork: its records follow the FORK. */
CASE(test_from)
{
	struct shim_unheard unheard = {0};

	assert_int_equal(map(&unheard, true), 0);
	assert_int_equal(
		shim_unheard_map(&unheard, &(struct shim_mapper){.pid = 7, .from_ns = 650}), 0);
	fork_process(&unheard, 7, 8, 700);
	assert_int_equal(shim_unheard_settle(&unheard), 0);
	assert_int_equal(unheard.mappers.size, 2);
	assert_int_equal(unheard.mappers.data[0].from_ns, 600);
	assert_int_equal(unheard.mappers.data[1].pid, 8);
	assert_int_equal(unheard.mappers.data[1].from_ns, 700);
	shim_unheard_deinit(&unheard);
}

/* The fork is read one drain before the mapping that it follows, and one after it. */
CASE(test_other_order)
{
	struct shim_unheard unheard = {0};

	fork_process(&unheard, 7, 8, 950);
	assert_int_equal(settle(&unheard, 900), 0);
	assert_int_equal(map(&unheard, true), 0);
	assert_int_equal(settle(&unheard, 970), 2);
	fork_process(&unheard, 7, 9, 980);
	assert_int_equal(settle(&unheard, 1100), 1);
	fork_process(&unheard, 7, 10, 990);
	assert_int_equal(settle(&unheard, 1200), 0);
	shim_unheard_deinit(&unheard);
}

/* A journal that could not be read stays wanted, and its process is not forgotten. */
CASE(test_failed_reading)
{
	struct shim_unheard unheard = {0};

	assert_int_equal(map(&unheard, true), 0);
	assert_int_equal(shim_unheard_settle(&unheard), 0);
	shim_unheard_forget(&unheard, 1100);
	assert_int_equal(settle(&unheard, 1200), 1);
	shim_unheard_deinit(&unheard);
}

/* A child that was forked before its parent's journal could be read lacks the parent's code. */
CASE(test_forked_before_the_reading)
{
	struct shim_unheard unheard = {0};

	assert_int_equal(map(&unheard, true), 0);
	fork_process(&unheard, 7, 8, 1100);
	assert_int_equal(shim_unheard_settle(&unheard), 0);
	unheard.mappers.data[0].wanted = false;
	shim_unheard_unread(&unheard, 7);
	shim_unheard_unread(&unheard, 6); /* no mapper */
	shim_unheard_forget(&unheard, 1200);
	fork_process(&unheard, 8, 9, 1250); /* follows what is read of its parent now */
	assert_int_equal(settle(&unheard, 1300), 1);
	fork_process(&unheard, 7, 10, 1310);
	assert_int_equal(settle(&unheard, 1400), 0);
	shim_unheard_deinit(&unheard);
}

/* On a machine that forks all the time, what is kept of it is what two drains saw. */
CASE(test_forks_are_forgotten)
{
	struct shim_unheard unheard = {0};

	for (uint32_t i = 0; i < 1000; i++) {
		fork_process(&unheard, 1, 100 + i, i);
		assert_int_equal(settle(&unheard, i), 0);
		assert_in_range(unheard.forks.size, 1, 2);
	}
	shim_unheard_deinit(&unheard);
}

/* Process 7 maps a copy whose probe is requested: request 3. */
static int map_pending(struct shim_unheard *unheard, bool wanted)
{
	return shim_unheard_map(
		unheard,
		&(struct shim_mapper){.pid = 7, .wanted = wanted, .pending = 3, .from_ns = 600});
}

static const struct shim_mapper *mapper_of(const struct shim_unheard *unheard, uint32_t pid)
{
	vec_for_each (mapper, &unheard->mappers) {
		if (mapper->pid == pid)
			return mapper;
	}
	fail();
	return NULL;
}

/* While the probe is requested, all forks inherit the copy, and mappers stay. */
CASE(test_pending)
{
	struct shim_unheard unheard = {0};

	assert_int_equal(map_pending(&unheard, true), 0);
	fork_process(&unheard, 7, 8, 700);
	assert_int_equal(shim_unheard_settle(&unheard), 0);
	shim_unheard_forget(&unheard, 5000);
	assert_int_equal(unheard.mappers.size, 2);
	shim_unheard_attached(&unheard, 2, 4000);
	assert_int_equal(mapper_of(&unheard, 8)->pending, 3);
	shim_unheard_attached(&unheard, 3, 6000);
	assert_int_equal(mapper_of(&unheard, 8)->pending, 0);
	assert_true(mapper_of(&unheard, 8)->wanted);
	assert_int_equal(mapper_of(&unheard, 7)->attached_ns, 6000);
	fork_process(&unheard, 7, 9, 6001);
	assert_int_equal(settle(&unheard, 7000), 2);
	shim_unheard_deinit(&unheard);
}

/* The mappers of a copy that was refused have no journal to read. */
CASE(test_refused)
{
	struct shim_unheard unheard = {0};

	assert_int_equal(map_pending(&unheard, true), 0);
	shim_unheard_attached(&unheard, 3, 0);
	assert_int_equal(settle(&unheard, 5000), 0);
	assert_int_equal(unheard.mappers.size, 0);
	shim_unheard_deinit(&unheard);
}

/* A journal that is read before the probe is attached is read again afterwards. */
CASE(test_read_early)
{
	struct shim_unheard unheard = {0};

	assert_int_equal(map_pending(&unheard, false), 0);
	shim_unheard_read_early(&unheard);
	shim_unheard_attached(&unheard, 3, 6000);
	assert_int_equal(settle(&unheard, 7000), 1);
	assert_int_equal(map(&unheard, false), 0);
	shim_unheard_read_early(&unheard);
	assert_int_equal(settle(&unheard, 8000), 0);
	shim_unheard_deinit(&unheard);
}
