/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/live/live_events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/scope.h"

static int open_one(struct live_events *events, const struct chosen_event *chosen, uint32_t cpu,
		    int program_fd, uint32_t number)
{
	struct live_event new = {.link_fd = -1};
	int err = 0;

	new.event_fd = software_event_open(chosen, cpu);
	if (new.event_fd == -ENODEV)
		return 0; /* the CPU has gone offline */
	if (new.event_fd < 0)
		return new.event_fd;
	new.link_fd = software_event_attach(new.event_fd, program_fd, number);
	if (new.link_fd < 0)
		err = new.link_fd;
	err = err ?: vec_push(&events->open, new);
	if (err) {
		if (new.link_fd >= 0)
			close(new.link_fd);
		close(new.event_fd);
	}
	return err;
}

int live_events_open(struct live_events *events, const struct chosen_events *chosen,
		     const struct cpu_events *cpus, int program_fd,
		     const struct software_event **ret_failed)
{
	for (size_t i = 0; i < chosen->count; i++) {
		*ret_failed = chosen->chosen[i].event;
		vec_for_each (cpu, &cpus->cpus) {
			int err = open_one(events, &chosen->chosen[i], cpu->cpu, program_fd,
					   (uint32_t)i + 1);

			if (err)
				return err;
		}
	}
	events->count = chosen->count;
	return 0;
}

int live_events_start(const struct live_events *events)
{
	vec_for_each (event, &events->open) {
		if (ioctl(event->event_fd, PERF_EVENT_IOC_ENABLE, 0))
			return -errno;
	}
	return 0;
}

void live_events_stop(const struct live_events *events)
{
	vec_for_each (event, &events->open)
		ioctl(event->event_fd, PERF_EVENT_IOC_DISABLE, 0);
}

void live_events_close(struct live_events *events)
{
	vec_for_each (event, &events->open) {
		close(event->link_fd);
		close(event->event_fd);
	}
	vec_deinit(&events->open);
}
