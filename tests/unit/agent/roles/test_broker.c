/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes of a role: what they may do, how many live, and how they end. */
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/roles/broker.h"
#include "agent/roles/fd_message.h"
#include "agent/roles/privileges.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

/* IDs in requests; they need not exist. */
#define USER  61234
#define GROUP 61235

/* What a process of a role reports about itself. */
struct report {
	pid_t pid;
	char status[4096];		     /* /proc/self/status */
	int written, executed, mapped, made; /* errno of an attempt; 0: it succeeded */
};

static int errno_of(int result)
{
	return result < 0 ? errno : 0;
}

/* Map code, and make data executable. Returns the errno of the first. */
static int map_code(int *ret_made)
{
	const size_t size = 4096;
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);

	*ret_made = errno_of(mprotect(data, size, PROT_READ | PROT_EXEC));
	return errno_of(mmap(NULL, size, PROT_READ | PROT_EXEC, flags, -1, 0) == MAP_FAILED ? -1
											    : 0);
}

static void serve(int socket)
{
	char *const argv[] = {"/bin/true", NULL};
	struct report report = {.pid = getpid()};
	AUTO_CLOSE int status = open("/proc/self/status", O_RDONLY);
	char byte;
	int none;

	while (fd_message_receive(socket, &byte, sizeof(byte), &none) == sizeof(byte)) {
		if (pread(status, report.status, sizeof(report.status) - 1, 0) < 0)
			_exit(1);
		report.written = errno_of(open("/dev/null", O_WRONLY));
		report.executed = errno_of(execv(argv[0], argv));
		report.mapped = map_code(&report.made);
		fd_message_send(socket, &report, sizeof(report), -1);
	}
}

static const role_fn functions[ROLE_COUNT] = {
	[ROLE_OPENER] = serve,
	[ROLE_USER_OPENER] = serve,
	[ROLE_FETCHER] = serve,
	[ROLE_ATTACHER] = serve,
};

static int setup(void **state)
{
	struct broker *broker = calloc(1, sizeof(*broker));

	*state = broker;
	return broker_start(functions, broker);
}

static int teardown(void **state)
{
	broker_stop(*state);
	free(*state);
	return 0;
}

/* Returns false if the process has gone, or was not started. */
static bool ask(int socket, struct report *ret)
{
	int none;

	return !fd_message_send(socket, "?", 1, -1) &&
	       fd_message_receive(socket, ret, sizeof(*ret), &none) == sizeof(*ret);
}

static uint64_t field_of(const struct report *report, const char *name)
{
	const char *line = strstr(report->status, name);

	assert_non_null(line);
	return strtoull(line + strlen(name), NULL, 16);
}

/* The four user or group IDs of a process are that of its role, if we may change them. */
static void check_ids(const struct report *report, const char *name, uint32_t id)
{
	const char *line = strstr(report->status, name);
	unsigned ids[4];

	if (!id || !(privileges_held() & PRIVILEGE(CAP_SETUID)))
		id = geteuid();
	assert_non_null(line);
	assert_int_equal(sscanf(line + strlen(name), "%u%u%u%u", ids, ids + 1, ids + 2, ids + 3),
			 4);
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		assert_int_equal(ids[i], id);
}

static void check_role(const struct broker *broker, enum role role, uint32_t uid, uint32_t gid)
{
	uint64_t wanted = role_rules(role)->capabilities & privileges_held();
	AUTO_CLOSE int socket = broker_connect_as(broker, role, USER, GROUP);
	char name[64];
	struct report report;

	assert_true(socket >= 0);
	assert_true(ask(socket, &report));
	snprintf(name, sizeof(name), "Name:\t%s\n", role_rules(role)->name);
	assert_non_null(strstr(report.status, name));
	check_ids(&report, "Uid:", uid);
	check_ids(&report, "Gid:", gid);
	assert_int_equal(field_of(&report, "CapPrm:"), wanted);
	assert_int_equal(field_of(&report, "CapEff:"), wanted);
	assert_int_equal(field_of(&report, "CapInh:"), 0);
	if (privileges_held() & PRIVILEGE(CAP_SETPCAP))
		assert_int_equal(field_of(&report, "CapBnd:"), 0);
	assert_int_equal(field_of(&report, "NoNewPrivs:"), 1);
	assert_int_equal(field_of(&report, "Seccomp:"), 2);
	assert_int_equal(report.executed, EPERM);
	assert_int_equal(report.written, role == ROLE_FETCHER ? 0 : EPERM);
	assert_int_equal(report.mapped, role == ROLE_FETCHER ? 0 : EPERM);
	assert_int_equal(report.made, role == ROLE_FETCHER ? 0 : EPERM);
}

CASE_WITH(has_the_privileges_of_its_role, setup, teardown)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		uint32_t id = role_rules((enum role)role)->id;

		if (functions[role] && role != ROLE_USER_OPENER)
			check_role(*state, (enum role)role, id, id);
	}
}

/* The only role that takes the IDs of the request. */
CASE_WITH(is_of_a_user, setup, teardown)
{
	check_role(*state, ROLE_USER_OPENER, USER, GROUP);
}

/* A process too many is not started; when one has ended, another may start. */
CASE_WITH(is_one_of_a_limited_number, setup, teardown)
{
	uint32_t max = role_rules(ROLE_FETCHER)->live_max;
	int sockets[8], more;
	struct report report;

	assert_true(max < ARRAY_SIZE(sockets));
	for (uint32_t i = 0; i < max; i++) {
		sockets[i] = broker_connect(*state, ROLE_FETCHER);
		assert_true(ask(sockets[i], &report));
	}
	more = broker_connect(*state, ROLE_FETCHER);
	assert_false(ask(more, &report));
	close(more);
	assert_int_equal(kill(report.pid, SIGKILL), 0);
	while (!ask(more = broker_connect(*state, ROLE_FETCHER), &report))
		close(more);
	close(more);
	for (uint32_t i = 0; i < max; i++)
		close(sockets[i]);
}

/* Processes that do not read their socket, or are stopped, end with the broker. */
CASE_WITH(ends_with_the_broker, setup, teardown)
{
	int socket = broker_connect(*state, ROLE_OPENER);
	struct report report;

	assert_true(ask(socket, &report));
	assert_int_equal(kill(report.pid, SIGSTOP), 0);
	broker_stop(*state);
	assert_int_equal(kill(report.pid, 0), -1);
	assert_int_equal(errno, ESRCH);
	close(socket);
}

static void stop(pid_t pid)
{
	siginfo_t stopped;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &stopped, WSTOPPED | WNOWAIT), 0);
}

/* A stopped broker is continued for a request, and for its end. */
CASE_WITH(is_started_by_a_broker_that_was_stopped, setup, teardown)
{
	struct broker *broker = *state;
	struct report report;
	int socket;

	stop(broker->pid);
	socket = broker_connect(broker, ROLE_OPENER);
	assert_true(ask(socket, &report));
	close(socket);
	assert_false(broker_is_lost(broker));
	stop(broker->pid);
	assert_true(broker_stop(broker));
}

CASE_WITH(is_not_started_by_a_broker_that_was_killed, setup, teardown)
{
	struct broker *broker = *state;

	assert_false(broker_is_lost(broker));
	assert_int_equal(kill(broker->pid, SIGKILL), 0);
	while (!broker_is_lost(broker))
		usleep(1000);
	assert_true(broker_connect(broker, ROLE_OPENER) < 0);
	assert_true(broker_stop(broker));
}
