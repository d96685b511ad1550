/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which time counts against a reader: of a process that uses no CPU time, in each state. */
#include <stdint.h>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/readers/reader_limit.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

#define MAX_NS	 20000000ull
#define WAIT_NS	 (3600 * 1000000000ull) /* longer than the test takes */
#define LIMIT_MS 10000			/* within which a state is reached */

static void sleep_ns(uint64_t time_ns)
{
	uint64_t end_ns = clock_now_ns() + time_ns;

	while (clock_now_ns() < end_ns)
		poll(NULL, 0, 1);
}

/* Returns a file without a name, with this text. */
static int text_file(const char *text)
{
	char path[] = "/tmp/jitbpf-limit-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static void set_waited(const struct cpu_wait *wait, uint64_t waited_ns)
{
	char text[64];
	int size_bytes = snprintf(text, sizeof(text), "1 %llu 1\n", (unsigned long long)waited_ns);

	assert_int_equal(pwrite(wait->schedstat, text, (size_t)size_bytes, 0), size_bytes);
}

static struct cpu_wait made_wait(const char *stat)
{
	struct cpu_wait wait = {text_file(""), text_file(stat)};

	set_waited(&wait, 0);
	return wait;
}

/* A process that does nothing, with a meter of made files. */
struct fixture {
	pid_t pid;
	struct reader_meter meter;
};

static pid_t start(void (*run)(const char *path), const char *path)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run(path);
	_exit(1);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void pause_for_ever(const char *path)
{
	(void)path;
	for (;;)
		pause();
}

static char state_of(pid_t pid)
{
	char path[64], text[128] = "";
	AUTO_CLOSE int fd = -1;
	const char *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	end = strrchr(text, ')');
	return end ? end[2] : '\0';
}

static void wait_for_state(pid_t pid, char state)
{
	for (int i = 0; i < LIMIT_MS && state_of(pid) != state; i++)
		poll(NULL, 0, 1);
	assert_int_equal(state_of(pid), state);
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	fixture->pid = start(pause_for_ever, NULL);
	wait_for_state(fixture->pid, 'S');
	fixture->meter = reader_meter_unknown;
	return clock_getcpuclockid(fixture->pid, &fixture->meter.clock);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	end(fixture->pid);
	reader_meter_close(&fixture->meter);
	free(fixture);
	return 0;
}

/* Sanitizers have a thread in the process, whose CPU time extends the limit a little. */
static void check_exceeded(const struct reader_limit *limit)
{
	for (int i = 0; i < LIMIT_MS && reader_limit_left_ms(limit); i++)
		poll(NULL, 0, 1);
	assert_int_equal(reader_limit_left_ms(limit), 0);
}

static void check_excused(const struct reader_limit *limit)
{
	sleep_ns(2 * limit->max_ns);
	assert_true(reader_limit_left_ms(limit) > 0);
}

CASE_WITH(a_sleeping_reader_exceeds_its_limit, setup, teardown)
{
	struct fixture *fixture = *state;
	struct reader_limit limit;

	fixture->meter.reader = made_wait("1 (jitbpf-reader) S 2 3");
	limit = reader_limit_begin(&fixture->meter, MAX_NS);
	assert_true(reader_limit_left_ms(&limit) > 0);
	check_exceeded(&limit);
}

CASE_WITH(waiting_for_a_cpu_does_not_count, setup, teardown)
{
	struct fixture *fixture = *state;
	struct reader_limit limit;

	fixture->meter.reader = made_wait("1 (jitbpf-reader) S 2 3");
	limit = reader_limit_begin(&fixture->meter, MAX_NS);
	set_waited(&fixture->meter.reader, WAIT_NS);
	check_excused(&limit);
}

CASE_WITH(what_it_waited_before_counts, setup, teardown)
{
	struct fixture *fixture = *state;
	struct reader_limit limit;

	fixture->meter.reader = made_wait("1 (jitbpf-reader) S 2 3");
	set_waited(&fixture->meter.reader, WAIT_NS);
	limit = reader_limit_begin(&fixture->meter, MAX_NS);
	check_exceeded(&limit);
}

CASE_WITH(the_recorders_waits_do_not_count, setup, teardown)
{
	struct fixture *fixture = *state;
	struct reader_limit limit;

	fixture->meter.recorder = made_wait("1 (jitbpf) R 2 3");
	limit = reader_limit_begin(&fixture->meter, MAX_NS);
	set_waited(&fixture->meter.recorder, WAIT_NS);
	check_excused(&limit);
	set_waited(&fixture->meter.recorder, 0);
	check_exceeded(&limit);
}

/* The kernel counts a wait when it ends. */
CASE_WITH(a_wait_that_goes_on_does_not_count, setup, teardown)
{
	struct fixture *fixture = *state;
	struct reader_limit limit;

	fixture->meter.reader = made_wait("1 (a ) S 1) R 2 3");
	limit = reader_limit_begin(&fixture->meter, MAX_NS);
	check_excused(&limit);
}

CASE_WITH(malformed_files_excuse_nothing, setup, teardown)
{
	static const char *const stats[] = {"", "1", "1 (R) S 2", "1 (jitbpf) ", "R R R"};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_SIZE(stats); i++) {
		struct reader_limit limit;

		fixture->meter.reader = (struct cpu_wait){text_file("99 x"), text_file(stats[i])};
		limit = reader_limit_begin(&fixture->meter, MAX_NS);
		check_exceeded(&limit);
		cpu_wait_close(&fixture->meter.reader);
	}
}

static void open_fifo(const char *path)
{
	open(path, O_RDONLY);
}

/* A process waits in state D for a child of CLONE_VFORK. */
static void sleep_uninterruptibly(const char *path)
{
	(void)path;
	if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, 0) == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
}

static void check_stuck(void (*run)(const char *path), const char *path, char state)
{
	pid_t pid = start(run, path);
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct reader_meter meter;
	struct reader_limit limit;

	wait_for_state(pid, state);
	reader_meter_open(pid, pidfd, &meter);
	limit = reader_limit_begin(&meter, MAX_NS);
	check_exceeded(&limit);
	assert_false(cpu_wait_is_runnable(&meter.reader));
	reader_meter_close(&meter);
	close(pidfd);
	end(pid);
}

CASE(a_stuck_reader_exceeds_its_limit)
{
	char path[] = "/tmp/jitbpf-limit-XXXXXX";

	assert_non_null(mkdtemp(path));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	check_stuck(open_fifo, path, 'S');
	check_stuck(sleep_uninterruptibly, NULL, 'D');
	unlink(path);
}

CASE(a_running_process_is_runnable)
{
	CLEANUP(cpu_wait_close) struct cpu_wait own;
	uint64_t waited_ns;

	cpu_wait_open_own(&own);
	if (own.schedstat < 0)
		NOT_APPLICABLE("the kernel does not count run delays");
	assert_true(cpu_wait_is_runnable(&own));
	waited_ns = cpu_wait_ns(&own);
	sleep_ns(1000000);
	assert_true(cpu_wait_ns(&own) >= waited_ns);
	cpu_wait_close(&own);
	assert_false(cpu_wait_is_runnable(&own));
	assert_int_equal(cpu_wait_ns(&own), 0);
}
