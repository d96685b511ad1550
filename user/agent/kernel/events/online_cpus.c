/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/events/online_cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/scope.h"

#define LOOK_STEP_NS	 1000000000ull
#define UEVENT_GROUP	 1 /* the kernel's own messages; udev has another group */
#define MESSAGES_AT_ONCE 1000
#define LEFT		 "offline@/devices/system/cpu/cpu"

bool cpu_list_parse(const char *text, struct cpu_list *ret)
{
	struct cpu_list list = {0};

	while (*text && *text != '\n') {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (end == text)
			return false;
		if (*end == '-') {
			text = end + 1;
			last = strtoul(text, &end, 10);
			if (end == text || last < first)
				return false;
		}
		for (unsigned long cpu = first; cpu <= last && cpu < JITBPF_CPUS_MAX; cpu++)
			cpu_list_add(&list, (uint32_t)cpu);
		if (*end == ',')
			end++;
		else if (*end && *end != '\n')
			return false;
		text = end;
	}
	*ret = list;
	return true;
}

static int open_uevents(void)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = UEVENT_GROUP};
	AUTO_CLOSE int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
				   NETLINK_KOBJECT_UEVENT);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return -1;
	return TAKE_FD(fd);
}

void online_cpus_init(struct online_cpus *cpus)
{
	*cpus = (struct online_cpus){
		.list_fd = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC),
		.uevent_fd = open_uevents(),
	};
}

void online_cpus_deinit(struct online_cpus *cpus)
{
	scope_close(&cpus->list_fd);
	scope_close(&cpus->uevent_fd);
	cpus->list_fd = cpus->uevent_fd = -1;
}

/*
 * Lost messages are ignored: a process that causes many messages must not make jitbpf open new
 * events on all CPUs.
 */
static void read_uevents(const struct online_cpus *cpus, struct cpu_list *left)
{
	char message[4096];

	for (int i = 0; i < MESSAGES_AT_ONCE && cpus->uevent_fd >= 0; i++) {
		struct sockaddr_nl from = {0};
		socklen_t from_bytes = sizeof(from);
		ssize_t size = recvfrom(cpus->uevent_fd, message, sizeof(message) - 1, 0,
					(struct sockaddr *)&from, &from_bytes);
		unsigned cpu;

		if (size < 0 && errno != ENOBUFS)
			return;
		if (size < 0)
			continue;
		message[size] = 0;
		if (!from.nl_pid && sscanf(message, LEFT "%u", &cpu) == 1)
			cpu_list_add(left, cpu);
	}
}

bool online_cpus_look(struct online_cpus *cpus, uint64_t now_ns, struct cpu_list *ret_online,
		      struct cpu_list *ret_left)
{
	struct cpu_list left = {0};
	char text[4096];
	ssize_t size;

	if (cpus->list_fd < 0 || now_ns < cpus->next_ns)
		return false;
	cpus->next_ns = now_ns + LOOK_STEP_NS;
	read_uevents(cpus, &left);
	size = pread(cpus->list_fd, text, sizeof(text) - 1, 0);
	if (size <= 0)
		return false;
	text[size] = 0;
	if (!cpu_list_parse(text, ret_online))
		return false;
	*ret_left = left;
	return true;
}
