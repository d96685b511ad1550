/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/roles/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/roles/child.h"
#include "agent/roles/fd_message.h"
#include "agent/roles/identity.h"
#include "agent/roles/privileges.h"
#include "base/scope.h"

#define PROCESSES_MAX 128
#define END_MS	      5000 /* the broker ends within a second, if it has the CPU */

/* What the broker receives, with the socket of the process. */
struct start {
	uint32_t role;
	uint32_t uid, gid; /* of a role of a user */
};

/* A live process of a role. */
struct role_process {
	pid_t pid;
	enum role role;
	uint64_t end_ns; /* it is killed then; UINT64_MAX: it is not */
};

struct broker_state {
	const role_fn *functions;
	struct role_process processes[PROCESSES_MAX];
	uint32_t count;
	int exits; /* signalfd for SIGCHLD */
};

/* A process that may outlive us must not hold our terminal, pipes or outputs. */
static void drop_descriptors(int socket)
{
	fd_message_keep_only(socket, 0);
	if (chdir("/"))
		_exit(1);
}

/* Let the kernel choose this process first. Without the right to, it may choose the recorder. */
static void offer_for_memory(void)
{
	static const char first[] = "1000";
	AUTO_CLOSE int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, first, sizeof(first) - 1) < 0)
		return;
}

static _Noreturn void run(const struct broker_state *broker, const struct start *start, int socket)
{
	enum role role = (enum role)start->role;
	sigset_t none;

	prctl(PR_SET_NAME, role_rules(role)->name);
	signal(SIGTERM, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	drop_descriptors(socket);
	if (role_rules(role)->replaceable)
		offer_for_memory();
	if (role_rules(role)->of_user && identity_take(start->uid, start->gid))
		_exit(1);
	if (role_enter(role, 0))
		_exit(1);
	broker->functions[role](FD_MESSAGE_SOCKET);
	_exit(0);
}

static void reap(struct broker_state *broker)
{
	struct signalfd_siginfo seen;
	pid_t pid;

	while (read(broker->exits, &seen, sizeof(seen)) == sizeof(seen))
		;
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		uint32_t at = 0;

		while (at < broker->count && broker->processes[at].pid != pid)
			at++;
		if (at < broker->count)
			broker->processes[at] = broker->processes[--broker->count];
	}
}

static bool may_start(const struct broker_state *broker, uint32_t role)
{
	uint32_t live = 0;

	if (role >= ROLE_COUNT || !broker->functions[role] || broker->count == PROCESSES_MAX)
		return false;
	for (uint32_t i = 0; i < broker->count; i++)
		live += broker->processes[i].role == role;
	return live < role_rules((enum role)role)->live_max;
}

static uint64_t end_of(uint32_t role)
{
	uint64_t life_s = role_rules((enum role)role)->life_max_s;

	return life_s ? clock_now_ns() + life_s * 1000000000ull : UINT64_MAX;
}

/* Returns false if jitbpf has exited. */
static bool handle_request(struct broker_state *broker)
{
	AUTO_CLOSE int socket = -1;
	struct start start;
	ssize_t got = fd_message_receive(FD_MESSAGE_SOCKET, &start, sizeof(start), &socket);
	pid_t pid;

	if (got != sizeof(start) || socket < 0 || !may_start(broker, start.role))
		return got > 0;
	pid = fork();
	if (!pid)
		run(broker, &start, socket);
	if (pid > 0)
		broker->processes[broker->count++] =
			(struct role_process){pid, (enum role)start.role, end_of(start.role)};
	return true;
}

/* It has IDs of its own, or a user's. */
static void end_process(const struct role_process *process)
{
	privileges_use(PRIVILEGE(CAP_KILL));
	kill(process->pid, SIGKILL);
	privileges_use(0);
}

/*
 * Kill the processes that are too old. Returns the time to the
 * next one in ms, or -1 if there is none.
 */
static int end_overdue(struct broker_state *broker)
{
	uint64_t now_ns = clock_now_ns(), next_ns = UINT64_MAX;

	for (uint32_t i = 0; i < broker->count; i++) {
		struct role_process *process = &broker->processes[i];

		if (process->end_ns <= now_ns) {
			end_process(process);
			process->end_ns = UINT64_MAX;
		}
		if (process->end_ns < next_ns)
			next_ns = process->end_ns;
	}
	return next_ns == UINT64_MAX ? -1 : (int)((next_ns - now_ns) / 1000000 + 1);
}

static void serve(struct broker_state *broker)
{
	struct pollfd waiting[] = {
		{.fd = FD_MESSAGE_SOCKET, .events = POLLIN},
		{.fd = broker->exits, .events = POLLIN},
	};

	for (;;) {
		if (poll(waiting, ARRAY_SIZE(waiting), end_overdue(broker)) < 0)
			continue;
		if (waiting[1].revents)
			reap(broker);
		if (waiting[0].revents && !handle_request(broker))
			return;
	}
}

/* The recorder waits for the broker, and so for these processes, but for none that outlives it. */
static void end_processes(const struct broker_state *broker)
{
	alarm(1);
	for (uint32_t i = 0; i < broker->count; i++) {
		if (!role_rules(broker->processes[i].role)->outlives)
			end_process(&broker->processes[i]);
	}
	for (uint32_t i = 0; i < broker->count; i++) {
		if (!role_rules(broker->processes[i].role)->outlives)
			waitpid(broker->processes[i].pid, NULL, 0);
	}
}

static _Noreturn void be_broker(const role_fn *functions, int socket)
{
	struct broker_state broker = {.functions = functions};
	sigset_t exits, none;

	/* A process group of its own: a terminal's Ctrl-C is for the recorder. */
	if (setpgid(0, 0))
		_exit(1);
	prctl(PR_SET_NAME, "jitbpf-broker");
	signal(SIGTERM, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	/* alarm() must kill us even if our parent ignored SIGALRM */
	signal(SIGALRM, SIG_DFL);
	sigemptyset(&none);
	sigemptyset(&exits);
	sigaddset(&exits, SIGCHLD);
	sigprocmask(SIG_SETMASK, &exits, NULL);
	drop_descriptors(socket);
	broker.exits = signalfd(-1, &exits, SFD_CLOEXEC | SFD_NONBLOCK);
	if (broker.exits < 0 || privileges_keep(role_capabilities(), 0))
		_exit(1);
	serve(&broker);
	end_processes(&broker);
	_exit(0);
}

int broker_start(const role_fn functions[ROLE_COUNT], struct broker *ret)
{
	int sockets[2], err = fd_message_pair(sockets);
	AUTO_CLOSE int ours = err ? -1 : sockets[0];
	AUTO_CLOSE int theirs = err ? -1 : sockets[1];
	pid_t pid = err ? -1 : fork();

	if (err)
		return err;
	if (pid < 0)
		return -errno;
	if (!pid)
		be_broker(functions, theirs);
	*ret = (struct broker){.socket = TAKE_FD(ours), .pid = pid};
	return 0;
}

int broker_connect_as(const struct broker *broker, enum role role, uint32_t uid, uint32_t gid)
{
	int sockets[2], err = fd_message_pair(sockets);
	const struct start start = {role, uid, gid};

	if (err)
		return err;
	child_continue(broker->pid);
	err = fd_message_send(broker->socket, &start, sizeof(start), sockets[1]);
	close(sockets[1]);
	if (!err)
		return sockets[0];
	close(sockets[0]);
	return err;
}

int broker_connect(const struct broker *broker, enum role role)
{
	return broker_connect_as(broker, role, 0, 0);
}

bool broker_is_lost(const struct broker *broker)
{
	struct pollfd hangup = {.fd = broker->socket};

	if (broker->socket >= 0)
		child_continue(broker->pid);
	return broker->socket >= 0 && poll(&hangup, 1, 0) > 0;
}

bool broker_stop(struct broker *broker)
{
	if (broker->socket < 0)
		return true;
	close(broker->socket);
	broker->socket = -1;
	return child_wait_for_end(broker->pid, END_MS);
}
