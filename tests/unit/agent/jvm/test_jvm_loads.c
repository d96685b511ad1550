/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <unistd.h>

#include "agent/jvm/jvm_loads.h"
#include "tests/unit/cases.h"

#define NOBODY 0x7fff0000u /* beyond the pids of all processes */

/* Nothing is begun, which would need a broker. */
CASE(test_beyond_limit)
{
	const struct process_owners owners = {0};
	uint32_t pid = (uint32_t)getpid();
	struct jvm_report report;
	struct jvm_loads *loads;

	assert_int_equal(jvm_loads_create(NULL, &owners, "/dev/null", false, &loads), 0);
	for (uint32_t i = 0; i < JVM_WAITING_MAX; i++)
		assert_int_equal(jvm_loads_see(loads, NOBODY + i, "libjvm.so", 1), 0);
	assert_false(jvm_loads_take(loads, &report));
	/* A process that has ended; the first one; a further one. */
	assert_int_equal(jvm_loads_see(loads, NOBODY - 1, "libjvm.so", 1), 0);
	assert_false(jvm_loads_take(loads, &report));
	assert_int_equal(jvm_loads_see(loads, pid, "libjvm.so", 1), 0);
	assert_int_equal(jvm_loads_see(loads, pid, "libjvm.so", 1), 0);
	assert_true(jvm_loads_take(loads, &report));
	assert_int_equal(report.pid, pid);
	assert_int_equal(report.reply.result, JVM_IS_BEYOND_LIMIT);
	assert_true(*report.comm);
	assert_false(jvm_loads_take(loads, &report));
	jvm_loads_destroy(loads);
}

/* Without an agent of our own, the first JVM is reported, and none waits. */
CASE(test_no_agent)
{
	const struct process_owners owners = {0};
	uint32_t pid = (uint32_t)getpid();
	struct jvm_report report;
	struct jvm_loads *loads;

	assert_int_equal(jvm_loads_create(NULL, &owners, "", false, &loads), 0);
	assert_int_equal(jvm_loads_see(loads, pid, "libjitbpf-jvmti.so", 1), 0);
	assert_int_equal(jvm_loads_see(loads, pid, "libc.so.6", 1), 0);
	assert_false(jvm_loads_take(loads, &report));
	assert_int_equal(jvm_loads_see(loads, pid, "libjvm.so", 1), 0);
	assert_int_equal(jvm_loads_see(loads, pid, "libjvm.so", 2), 0);
	assert_false(jvm_loads_are_pending(loads));
	assert_int_equal(jvm_loads_turn(loads), 0);
	assert_true(jvm_loads_take(loads, &report));
	assert_int_equal(report.reply.result, JVM_AGENT_IS_MISSING);
	assert_false(jvm_loads_take(loads, &report));
	jvm_loads_destroy(loads);
}

/* JVMs that have an agent are forgotten when there is no room: those of an owner harm no other. */
CASE(test_settled_make_room)
{
	const struct process_owners owners = {0};
	struct jvm_report report;
	struct jvm_loads *loads;

	assert_int_equal(jvm_loads_create(NULL, &owners, "/dev/null", false, &loads), 0);
	for (uint32_t i = 0; i < JVM_ALL_MAX + 10; i++)
		assert_int_equal(jvm_loads_see(loads, NOBODY + i, "libjitbpf-jvmti.so", 1), 0);
	assert_false(jvm_loads_are_pending(loads));
	assert_int_equal(jvm_loads_see(loads, (uint32_t)getpid(), "libjvm.so", 3), 0);
	assert_true(jvm_loads_are_pending(loads));
	assert_false(jvm_loads_take(loads, &report));
	/* One that waits is not forgotten. */
	for (uint32_t i = 0; i < JVM_ALL_MAX; i++)
		assert_int_equal(jvm_loads_see(loads, NOBODY - 1 - i, "libjitbpf-jvmti.so", 4), 0);
	assert_true(jvm_loads_are_pending(loads));
	jvm_loads_destroy(loads);
}

/* A JVM that leaves makes room. */
CASE(test_room)
{
	const struct process_owners owners = {0};
	struct jvm_report report;
	struct jvm_loads *loads;

	assert_int_equal(jvm_loads_create(NULL, &owners, "/dev/null", false, &loads), 0);
	for (uint32_t i = 0; i < JVM_WAITING_MAX; i++)
		assert_int_equal(jvm_loads_see(loads, NOBODY + i, "libjvm.so", 1), 0);
	jvm_loads_forget(loads, NOBODY, 2);
	assert_int_equal(jvm_loads_see(loads, (uint32_t)getpid(), "libjvm.so", 3), 0);
	assert_false(jvm_loads_take(loads, &report));
	jvm_loads_destroy(loads);
}

/* A JVM that was not sampled neither waits nor is reported. */
CASE(test_only_sampled)
{
	const struct process_owners owners = {0};
	uint32_t pid = (uint32_t)getpid();
	struct jvm_report report;
	struct jvm_loads *loads;

	assert_int_equal(jvm_loads_create(NULL, &owners, "/dev/null", true, &loads), 0);
	assert_int_equal(jvm_loads_sampled(loads, pid), 0);
	assert_int_equal(jvm_loads_see(loads, pid, "libjvm.so", 1), 0);
	assert_int_equal(jvm_loads_see(loads, NOBODY, "libjvm.so", 1), 0);
	assert_int_equal(jvm_loads_sampled(loads, 0), 0);
	assert_false(jvm_loads_are_pending(loads));
	assert_int_equal(jvm_loads_turn(loads), 0);
	assert_int_equal(jvm_loads_end(loads), 0);
	assert_false(jvm_loads_take(loads, &report));
	assert_int_equal(jvm_loads_sampled(loads, pid), 0);
	assert_true(jvm_loads_are_pending(loads));
	assert_int_equal(jvm_loads_end(loads), 0);
	assert_true(jvm_loads_take(loads, &report));
	assert_int_equal(report.pid, pid);
	assert_false(jvm_loads_take(loads, &report));
	jvm_loads_destroy(loads);
}

/* Without an agent of our own, the first JVM that is sampled is reported. */
CASE(test_no_agent_for_sampled)
{
	const struct process_owners owners = {0};
	uint32_t pid = (uint32_t)getpid();
	struct jvm_report report;
	struct jvm_loads *loads;

	assert_int_equal(jvm_loads_create(NULL, &owners, "", true, &loads), 0);
	assert_int_equal(jvm_loads_see(loads, pid, "libjvm.so", 1), 0);
	assert_false(jvm_loads_take(loads, &report));
	assert_int_equal(jvm_loads_sampled(loads, pid), 0);
	assert_int_equal(jvm_loads_sampled(loads, pid), 0);
	assert_false(jvm_loads_are_pending(loads));
	assert_true(jvm_loads_take(loads, &report));
	assert_int_equal(report.reply.result, JVM_AGENT_IS_MISSING);
	assert_false(jvm_loads_take(loads, &report));
	jvm_loads_destroy(loads);
}
