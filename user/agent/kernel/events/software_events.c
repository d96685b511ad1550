/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/events/software_events.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/scope.h"

static const struct software_event events[] = {
#define ROW(name, unit, config, period) {name, unit, config, period},
	SOFTWARE_EVENTS(ROW)
#undef ROW
};

_Static_assert(ARRAY_SIZE(events) < JITBPF_EVENTS_MAX, "each can be sampled beside CPU time");

const struct software_event *software_event_at(size_t i)
{
	return i < ARRAY_SIZE(events) ? &events[i] : NULL;
}

int software_event_open(const struct chosen_event *event, uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = event->event->config,
		.sample_period = event->period,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int software_event_attach(int event_fd, int program_fd, uint32_t number)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = number);
	int fd = bpf_link_create(program_fd, event_fd, BPF_PERF_EVENT, &opts);

	return fd < 0 ? -errno : fd;
}
