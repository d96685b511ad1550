/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The limits of a reader process, and what a request costs that exceeds them. */
#include <stdint.h>

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/readers/reader_client.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

#define ANSWER_MS  500
#define STARVED_MS (6 * ANSWER_MS)

/* What the reader of this test does with a request before it answers with its pid. */
enum behaviour {
	ANSWERS,
	SPINS,	/* for ever */
	SLEEPS, /* for ever */
	EXITS,
	EXITS_ONCE,	   /* unless another process had a request before */
	WAITS_FOR_A_DISK,  /* computes a little, but longer than its limit passes */
	COMPUTES_FOR_LONG, /* until STARVED_MS have passed */
};

struct fixture {
	struct broker broker;
	struct reader_client *client;
	_Atomic uint64_t failures;
};

static struct module module = {.number = 1, .path = "/"}, other = {.number = 2, .path = "/"};

/* Requests that the processes of a test had, and modules to forget; shared with them. */
static volatile uint32_t *requests, *forgotten;

static void sleep_ms(int ms)
{
	struct pollfd nothing = {.fd = -1};

	poll(&nothing, 1, ms);
}

static void spin_until(uint64_t cpu_ns)
{
	while (clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) < cpu_ns)
		;
}

static void behave(uint32_t behaviour)
{
	if (behaviour == EXITS || (behaviour == EXITS_ONCE && *requests == 1))
		_exit(1);
	if (behaviour == SPINS)
		spin_until(UINT64_MAX);
	if (behaviour == SLEEPS)
		sleep_ms(-1);
	if (behaviour == WAITS_FOR_A_DISK) {
		spin_until(clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) + ANSWER_MS * 1000000ull / 5);
		sleep_ms(2 * ANSWER_MS);
	}
	if (behaviour == COMPUTES_FOR_LONG) {
		uint64_t end_ns = clock_now_ns() + STARVED_MS * 1000000ull;

		while (clock_now_ns() < end_ns)
			;
	}
}

static void serve(int socket)
{
	message_bytes bytes = {0};
	pid_t pid = getpid();
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), none, kind;
	uint32_t behaviour;

	if (reader_send(socket, READER_STARTED, &pid, sizeof(pid), pidfd, NULL) ||
	    reader_receive(socket, &bytes, &none, NULL) != READER_SETTINGS)
		_exit(1);
	while ((kind = reader_receive(socket, &bytes, &none, NULL)) == READER_NAMES ||
	       kind == READER_FORGET) {
		if (kind == READER_FORGET) {
			++*forgotten;
			continue;
		}
		memcpy(&behaviour, bytes.data, sizeof(behaviour));
		++*requests;
		behave(behaviour);
		if (reader_send(socket, READER_FRAMES, &pid, sizeof(pid), -1, NULL))
			_exit(1);
	}
	_exit(0);
}

static int setup(void **state)
{
	static const role_fn functions[ROLE_COUNT] = {[ROLE_READER] = serve};
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	const struct reader_options options = {
		.broker = &fixture->broker,
		.answer_ms = ANSWER_MS,
		.failures = &fixture->failures,
	};

	*state = fixture;
	requests = mmap(NULL, 2 * sizeof(*requests), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (requests == MAP_FAILED)
		return -1;
	forgotten = requests + 1;
	return broker_start(functions, &fixture->broker)
		       ?: reader_client_create(&options, &fixture->client);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	reader_client_destroy(fixture->client);
	broker_stop(&fixture->broker);
	munmap((void *)requests, 2 * sizeof(*requests));
	free(fixture);
	return 0;
}

/* Returns the pid of the process that answered, or a negative errno. */
static pid_t ask(struct fixture *fixture, const struct module *of, uint32_t behaviour)
{
	const struct reader_request request = {
		.kind = READER_NAMES,
		.answer = READER_FRAMES,
		.bytes = &behaviour,
		.size_bytes = sizeof(behaviour),
		.module = of,
	};
	const message_bytes *answer;
	int err = reader_client_ask(fixture->client, &request, &answer);
	pid_t pid;

	if (err)
		return err;
	assert_int_equal(answer->size, sizeof(pid));
	memcpy(&pid, answer->data, sizeof(pid));
	return pid;
}

/* However few there are: each can cost a process megabytes. */
CASE_WITH(modules_that_are_gone_are_forgotten, setup, teardown)
{
	struct fixture *fixture = *state;
	const uint32_t gone = 20;
	struct module *gone_modules[20];

	for (uint32_t i = 0; i < gone; i++) {
		struct module *made = calloc(1, sizeof(*made));

		*made = (struct module){.number = 100 + i, .path = "/"};
		assert_true(ask(fixture, made, ANSWERS) > 0);
		/* Two clients know it, and the table drops it. */
		module_hold(made);
		gone_modules[i] = made;
		module_drop(made);
		module_release(made);
	}
	for (uint32_t i = 0; i < gone; i++)
		assert_true(ask(fixture, &other, ANSWERS) > 0);
	assert_int_equal(*forgotten, gone);
	for (uint32_t i = 0; i < gone; i++)
		module_release(gone_modules[i]);
	/* What is in use stays known. */
	assert_true(ask(fixture, &other, ANSWERS) > 0);
	assert_int_equal(*forgotten, gone);
}

/* All processes fail that get the request; then the module is given up, and no other one. */
static void check_given_up(struct fixture *fixture, enum behaviour behaviour)
{
	assert_int_equal(ask(fixture, &module, behaviour), -EIO);
	assert_int_equal(fixture->failures, READER_STRIKES);
	assert_int_equal(*requests, READER_STRIKES);
	assert_int_equal(ask(fixture, &module, ANSWERS), -EIO);
	assert_int_equal(*requests, READER_STRIKES);
	assert_true(ask(fixture, &other, ANSWERS) > 0);
	assert_int_equal(fixture->failures, READER_STRIKES);
}

CASE_WITH(a_module_is_given_up_that_ends_readers, setup, teardown)
{
	check_given_up(*state, EXITS);
}

CASE_WITH(a_reader_has_a_limit_of_cpu_time, setup, teardown)
{
	uint64_t began_ns = clock_now_ns();

	check_given_up(*state, SPINS);
	assert_true(clock_now_ns() - began_ns >= READER_STRIKES * ANSWER_MS * 1000000ull);
}

CASE_WITH(a_reader_that_sleeps_is_ended, setup, teardown)
{
	uint64_t began_ns = clock_now_ns();

	check_given_up(*state, SLEEPS);
	assert_true(clock_now_ns() - began_ns >= READER_STRIKES * ANSWER_MS * 1000000ull);
}

CASE_WITH(a_stopped_reader_is_replaced, setup, teardown)
{
	struct fixture *fixture = *state;
	pid_t first = ask(fixture, &module, ANSWERS), second;

	assert_true(first > 0);
	assert_int_equal(kill(first, SIGSTOP), 0);
	second = ask(fixture, &module, ANSWERS);
	assert_true(second > 0);
	assert_int_not_equal(second, first);
	assert_int_equal(fixture->failures, 1);
}

CASE_WITH(another_reader_gets_the_request_of_one_that_died, setup, teardown)
{
	struct fixture *fixture = *state;

	assert_true(ask(fixture, &module, EXITS_ONCE) > 0);
	assert_int_equal(fixture->failures, 1);
}

CASE_WITH(a_reader_that_waits_for_a_disk_is_not_ended, setup, teardown)
{
	struct fixture *fixture = *state;

	assert_true(ask(fixture, &module, WAITS_FOR_A_DISK) > 0);
	assert_int_equal(fixture->failures, 0);
}

/* Returns the CPU time of a process in ns. */
static uint64_t cpu_of(pid_t pid)
{
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	return clock_read_ns(clock);
}

/* Start a process that leaves a reader almost no time on the CPU that both have. */
static pid_t starve(pid_t reader)
{
	cpu_set_t all, one;
	int cpu = 0;
	pid_t pid;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(reader, sizeof(one), &one), 0);
	assert_int_equal(setpriority(PRIO_PROCESS, (id_t)reader, 19), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sched_setaffinity(0, sizeof(one), &one);
		spin_until(UINT64_MAX);
	}
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The share of the reader's CPU time is below 1 / READER_SLOWDOWN. */
CASE_WITH(a_reader_that_waits_for_a_cpu_is_not_ended, setup, teardown)
{
	struct fixture *fixture = *state;
	pid_t reader = ask(fixture, &module, ANSWERS), answered, beside;
	CLEANUP(cpu_wait_close) struct cpu_wait wait;
	uint64_t cpu_ns;

	cpu_wait_open_own(&wait);
	if (wait.schedstat < 0)
		NOT_APPLICABLE("the kernel does not count run delays");
	assert_true(reader > 0);
	beside = starve(reader);
	answered = ask(fixture, &module, COMPUTES_FOR_LONG);
	end_child(beside);
	assert_int_equal(answered, reader);
	assert_int_equal(fixture->failures, 0);
	cpu_ns = cpu_of(reader);
	assert_true(ANSWER_MS * 1000000ull + READER_SLOWDOWN * cpu_ns < STARVED_MS * 1000000ull);
}
