/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/kernel/proc/cpu_wait.h"
#include "base/scope.h"
#include "tests/unit/agent/made_patience.h"
#include "tests/unit/cases.h"

#define SEC 1000000000ull

/* Returns the patience that passes in a time of which the thread waits for a part. */
static uint64_t passed(struct made_patience *made, uint64_t time_ns, uint64_t waited_ns)
{
	uint64_t before_ns = patience_now_ns(&made->clock);

	made_patience_pass(made, time_ns, waited_ns);
	return patience_now_ns(&made->clock) - before_ns;
}

CASE(time_passes_while_the_thread_sleeps_or_runs)
{
	struct made_patience made;

	made_patience_init(&made);
	assert_int_equal(patience_now_ns(&made.clock), made.now_ns);
	assert_int_equal(passed(&made, SEC, 0), SEC);
	assert_int_equal(passed(&made, 0, 0), 0);
}

CASE(waiting_for_a_cpu_does_not_count)
{
	struct made_patience made;

	made_patience_init(&made);
	made.waited_ns = 100 * SEC; /* from before the clock began */
	patience_init(&made.clock, made_patience_read, &made);
	assert_int_equal(passed(&made, SEC, SEC / 2), SEC / 2);
	assert_int_equal(passed(&made, SEC, 0), SEC);
}

/* Whoever keeps all CPUs busy makes a wait longer, but not endless. */
CASE(a_part_counts_always)
{
	const uint64_t least_ns = SEC / PATIENCE_SLOWEST;
	struct made_patience made;
	uint64_t begin_ns;

	made_patience_init(&made);
	assert_int_equal(passed(&made, SEC, SEC), least_ns);
	assert_int_equal(passed(&made, SEC, SEC - 1), least_ns);
	assert_int_equal(passed(&made, SEC, 1000 * SEC), least_ns);
	assert_int_equal(passed(&made, SEC, UINT64_MAX / 2), least_ns);
	begin_ns = patience_now_ns(&made.clock);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(passed(&made, 1, 1), 1); /* nothing is lost in rounding */
	assert_int_equal(patience_now_ns(&made.clock) - begin_ns, 1000);
}

/* A file of /proc that cannot be read any more gives 0. */
CASE(waits_that_become_unknown)
{
	struct made_patience made;

	made_patience_init(&made);
	assert_int_equal(passed(&made, SEC, SEC / 2), SEC / 2);
	made.waited_ns = 0;
	assert_int_equal(passed(&made, SEC, 0), SEC);
	assert_int_equal(passed(&made, SEC, SEC / 4), SEC * 3 / 4);
}

/* Returns a number below `sides`. */
static uint64_t roll(uint64_t *dice, uint64_t sides)
{
	*dice = *dice * 6364136223846793005u + 1442695040888963407u;
	return (*dice >> 11) % sides;
}

CASE(time_never_goes_back_and_passes_within_its_bounds)
{
	uint64_t dice = 1;
	struct made_patience made;
	uint64_t begin_ns, before_ns;

	made_patience_init(&made);
	begin_ns = before_ns = patience_now_ns(&made.clock);
	for (int i = 0; i < 100000; i++) {
		uint64_t now_ns;

		made.now_ns += roll(&dice, 1 + SEC);
		made.waited_ns = roll(&dice, 8) ? made.waited_ns + roll(&dice, 1 + SEC)
						: roll(&dice, UINT64_MAX);
		now_ns = patience_now_ns(&made.clock);
		assert_true(now_ns >= before_ns);
		before_ns = now_ns;
	}
	assert_true(before_ns <= made.now_ns);
	assert_true(before_ns - begin_ns >= (made.now_ns - begin_ns) / PATIENCE_SLOWEST);
}

CASE(without_a_clock_it_is_the_time)
{
	uint64_t before_ns = clock_now_ns(), now_ns = patience_now_ns(NULL);

	assert_in_range(now_ns, before_ns, clock_now_ns());
}

static pid_t start_loop(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	return pid;
}

/* On a CPU that others keep busy, the kernel counts the waits of this thread. */
CASE(the_kernel_counts_waits)
{
	struct cpu_wait own = CPU_WAIT_UNKNOWN;
	struct patience patience;
	uint64_t begin_ns, patience_ns, waited_ns;
	cpu_set_t before, one;
	pid_t loops[2];

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	for (size_t i = 0; i < ARRAY_SIZE(loops); i++)
		loops[i] = start_loop();
	cpu_wait_open_own(&own);
	assert_true(own.schedstat >= 0);
	waited_ns = cpu_wait_ns(&own);
	begin_ns = clock_now_ns();
	cpu_wait_init_patience(&own, &patience);
	patience_ns = patience_now_ns(&patience);
	while (cpu_wait_ns(&own) - waited_ns < SEC / 10)
		patience_now_ns(&patience);
	patience_ns = patience_now_ns(&patience) - patience_ns;
	/* At least so much of each wait does not count. */
	assert_true(patience_ns + SEC / 10 * (PATIENCE_SLOWEST - 1) / PATIENCE_SLOWEST <=
		    clock_now_ns() - begin_ns);
	cpu_wait_close(&own);
	for (size_t i = 0; i < ARRAY_SIZE(loops); i++)
		kill(loops[i], SIGKILL);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}
