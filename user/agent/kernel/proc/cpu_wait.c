/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/proc/cpu_wait.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/clock.h"
#include "base/scope.h"

/* Read the beginning of a file of /proc as a string. Returns false if it cannot be read. */
static bool read_text(int fd, char *text, size_t size_bytes)
{
	ssize_t got = fd < 0 ? -1 : pread(fd, text, size_bytes - 1, 0);

	if (got < 0)
		return false;
	text[got] = '\0';
	return true;
}

static int open_file(const char *folder, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/%s", folder, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Both times are 0 where the kernel counts none; but a thread that opens the file has run. */
static bool read_schedstat(int fd, uint64_t *ret_ran_ns, uint64_t *ret_waited_ns)
{
	char text[80];

	return read_text(fd, text, sizeof(text)) &&
	       sscanf(text, "%" SCNu64 " %" SCNu64, ret_ran_ns, ret_waited_ns) == 2;
}

static void open_both(const char *folder, struct cpu_wait *ret)
{
	uint64_t ran_ns, waited_ns;

	*ret = CPU_WAIT_UNKNOWN;
	ret->schedstat = open_file(folder, "schedstat");
	ret->stat = open_file(folder, "stat");
	if (ret->stat < 0 || !read_schedstat(ret->schedstat, &ran_ns, &waited_ns) || !ran_ns)
		cpu_wait_close(ret);
}

/* The number of a process in the pid namespace of /proc, which need not be ours. */
static bool number_of(int pidfd, unsigned *ret)
{
	AUTO_CLOSE int fd = -1;
	char name[32], text[512];
	const char *line;

	snprintf(name, sizeof(name), "%d", pidfd);
	fd = open_file("self/fdinfo", name);
	line = read_text(fd, text, sizeof(text)) ? strstr(text, "\nPid:") : NULL;
	return line && sscanf(line, "\nPid: %u", ret) == 1 && *ret;
}

void cpu_wait_open(int pidfd, struct cpu_wait *ret)
{
	char folder[32];
	unsigned number;

	*ret = CPU_WAIT_UNKNOWN;
	if (!number_of(pidfd, &number))
		return;
	snprintf(folder, sizeof(folder), "%u", number);
	open_both(folder, ret);
}

void cpu_wait_open_own(struct cpu_wait *ret)
{
	open_both("thread-self", ret);
}

void cpu_wait_close(struct cpu_wait *wait)
{
	scope_close(&wait->schedstat);
	scope_close(&wait->stat);
	*wait = CPU_WAIT_UNKNOWN;
}

uint64_t cpu_wait_ns(const struct cpu_wait *wait)
{
	uint64_t ran_ns, waited_ns;

	return read_schedstat(wait->schedstat, &ran_ns, &waited_ns) ? waited_ns : 0;
}

#define READINGS 4 /* attempts to read two values that belong together */

/* The thread may wait between the two readings; then the wait would be in one of them only. */
static void read_both(struct cpu_wait *wait)
{
	uint64_t waited_ns = cpu_wait_ns(wait), before_ns;
	int left = READINGS;

	do {
		before_ns = waited_ns;
		wait->read_ns = clock_now_ns();
		waited_ns = cpu_wait_ns(wait);
	} while (waited_ns != before_ns && --left);
	wait->waited_ns = waited_ns;
}

static uint64_t read_patience(void *context, uint64_t *ret_waited_ns)
{
	struct cpu_wait *wait = context;

	if (clock_now_ns() >= wait->read_ns + CPU_WAIT_READING_NS)
		read_both(wait);
	*ret_waited_ns = wait->waited_ns;
	return wait->read_ns;
}

void cpu_wait_init_patience(struct cpu_wait *wait, struct patience *ret)
{
	patience_init(ret, read_patience, wait);
}

bool cpu_wait_is_runnable(const struct cpu_wait *wait)
{
	char text[128];
	const char *end; /* of the name, which may contain ')' */

	if (!read_text(wait->stat, text, sizeof(text)))
		return false;
	end = strrchr(text, ')');
	return end && !strncmp(end, ") R ", 4);
}
