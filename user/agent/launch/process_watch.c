/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/launch/process_watch.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

int process_watch_add(struct process_watch *watch, uint32_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), err;

	if (fd < 0)
		return -errno;
	err = vec_push(&watch->pidfds, fd);
	if (err) {
		close(fd);
		return err;
	}
	watch->any = true;
	return 0;
}

bool process_watch_ended(struct process_watch *watch)
{
	size_t left = 0;

	vec_for_each (fd, &watch->pidfds) {
		struct pollfd waiting = {.fd = *fd, .events = POLLIN};

		if (poll(&waiting, 1, 0) > 0)
			close(*fd);
		else
			watch->pidfds.data[left++] = *fd;
	}
	watch->pidfds.size = left;
	return watch->any && !left;
}

void process_watch_deinit(struct process_watch *watch)
{
	vec_for_each (fd, &watch->pidfds)
		close(*fd);
	vec_deinit(&watch->pidfds);
}
