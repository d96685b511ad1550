/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/probes/lock_holders.h"
#include "tests/unit/cases.h"

#include <errno.h>

#define SECOND_NS 1000000000ull

static struct {
	struct jitbpf_lock_holder holders[2];
	int count, looks;
	int free_at;  /* the look from which on nothing is held; 0: never */
	bool changes; /* of owner, from look to look */
} machine;

static int look(void *context, struct jitbpf_lock_holder *ret, size_t most)
{
	machine.looks++;
	if (machine.count < 0)
		return machine.count;
	if (machine.free_at && machine.looks >= machine.free_at)
		return 0;
	for (int i = 0; i < machine.count; i++) {
		ret[i] = machine.holders[i];
		ret[i].owner += machine.changes ? (uint64_t)machine.looks : 0;
	}
	return machine.count;
}

static void no_pause(void)
{
}

static struct lock_gate gate_of(int count)
{
	machine = (__typeof__(machine)){
		.holders = {{.pid = 7, .uid = 1000, .owner = 1}, {.pid = 8, .owner = 2}},
		.count = count,
	};
	return (struct lock_gate){.look = look, .pause = no_pause};
}

CASE(test_open)
{
	struct lock_gate gate = gate_of(0);

	assert_true(lock_gate_is_open(&gate, 1));
	assert_int_equal(machine.looks, 1);
	assert_int_equal(gate.closed, 0);
}

CASE(test_short_lock)
{
	struct lock_gate gate = gate_of(2);

	machine.free_at = 3; /* held in two of three looks */
	assert_true(lock_gate_is_open(&gate, 1));
}

CASE(test_closed)
{
	struct lock_gate gate = gate_of(2);
	uint64_t now_ns = 5 * SECOND_NS;

	assert_false(lock_gate_is_open(&gate, now_ns));
	assert_int_equal(gate.holder.pid, 7);
	assert_int_equal(gate.holder.uid, 1000);
	/* Looks are spaced. */
	machine.looks = 0;
	assert_false(lock_gate_is_open(&gate, now_ns + 1));
	assert_int_equal(machine.looks, 0);
	/* It stays closed for a while after the lock is free: its holder may take it again. */
	machine.count = 0;
	assert_false(lock_gate_is_open(&gate, now_ns + LOCK_LOOK_NS));
	assert_int_equal(machine.looks, 1);
	assert_false(lock_gate_is_open(&gate, now_ns + LOCK_CLEAR_NS - 1));
	assert_true(lock_gate_is_open(&gate, now_ns + 2 * LOCK_CLEAR_NS));
	assert_true(lock_gate_is_open(&gate, now_ns + 2 * LOCK_CLEAR_NS + 1));
}

CASE(test_other_owner)
{
	struct lock_gate gate = gate_of(1);

	/* Threads that take and free the lock in turn are not stuck. */
	machine.changes = true;
	assert_true(lock_gate_is_open(&gate, SECOND_NS));
	assert_int_equal(machine.looks, 2);
	machine.changes = false;
	assert_false(lock_gate_is_open(&gate, SECOND_NS));
}

CASE(test_failing_look)
{
	struct lock_gate gate = gate_of(-EPERM);

	assert_true(lock_gate_is_open(&gate, 1));
}

CASE(test_quiet)
{
	struct lock_gate gate = gate_of(0);
	uint64_t now_ns = 5 * SECOND_NS;

	lock_gate_watch(&gate, now_ns);
	assert_false(lock_gate_is_quiet(&gate, now_ns));
	assert_false(lock_gate_is_quiet(&gate, now_ns + LOCK_QUIET_NS - 1));
	assert_true(lock_gate_is_quiet(&gate, now_ns + LOCK_QUIET_NS));
	/* The lock is taken again: a removal waits until the gate is open, and a while more. */
	machine.count = 1;
	assert_false(lock_gate_is_quiet(&gate, now_ns + SECOND_NS));
	machine.count = 0;
	now_ns += SECOND_NS + LOCK_CLEAR_NS;
	assert_true(lock_gate_is_open(&gate, now_ns));
	assert_true(lock_gate_is_quiet(&gate, now_ns));
	assert_true(lock_gate_is_open(&gate, now_ns));
}

CASE(test_no_look)
{
	struct lock_gate gate = {0};

	assert_true(lock_gate_is_open(&gate, SECOND_NS));
	assert_true(lock_gate_is_quiet(&gate, SECOND_NS));
}
