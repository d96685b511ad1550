/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/cpu_events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "uapi/kernel_maps.h"

#define SIDEBAND_BYTES (1u << 20)

static const char event_cycles[] = "cycles";
static const char event_clock[] = "cpu-clock";

static int open_event(struct perf_event_attr *attr, uint32_t cpu)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->sample_id_all = 1;
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	attr->use_clockid = 1; /* the events of one ring must have the same clock */
	attr->clockid = CLOCK_MONOTONIC;
	fd = (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_sampling(uint32_t cpu, uint32_t freq_hz, bool hardware)
{
	struct perf_event_attr attr = {
		.type = hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = hardware ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = freq_hz,
		.disabled = 1,
		.exclude_idle = 1,
	};

	return open_event(&attr, cpu);
}

static int open_sideband(uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.ksymbol = 1,
		.watermark = 1,
		.wakeup_watermark = SIDEBAND_BYTES / 4,
	};

	return open_event(&attr, cpu);
}

int cpu_event_open(uint32_t cpu, uint32_t freq_hz, bool hardware, struct cpu_event *ret)
{
	int sideband_fd = open_sideband(cpu), sample_fd;

	if (sideband_fd < 0)
		return sideband_fd;
	sample_fd = open_sampling(cpu, freq_hz, hardware);
	if (sample_fd < 0) {
		close(sideband_fd);
		return sample_fd;
	}
	*ret = (struct cpu_event){.cpu = cpu, .sample_fd = sample_fd, .sideband_fd = sideband_fd};
	return 0;
}

static void close_event(struct cpu_event *event, size_t sideband_bytes)
{
	if (event->sideband)
		munmap(event->sideband, sideband_bytes + (size_t)sysconf(_SC_PAGESIZE));
	if (event->sideband_fd >= 0)
		close(event->sideband_fd);
	if (event->sample_fd >= 0)
		close(event->sample_fd);
}

static int open_cpu(struct cpu_events *events, uint32_t cpu, uint32_t freq_hz,
		    struct cpu_event *ret, const char **ret_what)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct cpu_event event = {.cpu = cpu, .sample_fd = -1, .sideband_fd = -1};
	int err;

	*ret_what = "opening the side-band event";
	event.sideband_fd = err = open_sideband(cpu);
	if (err < 0)
		return err;
	*ret_what = "mapping the side-band ring";
	event.sideband = mmap(NULL, events->sideband_bytes + page, PROT_READ | PROT_WRITE,
			      MAP_SHARED, event.sideband_fd, 0);
	if (event.sideband == MAP_FAILED) {
		err = -errno;
		event.sideband = NULL;
		goto fail;
	}
	*ret_what = "opening the sampling event (is the frequency above "
		    "/proc/sys/kernel/perf_event_max_sample_rate?)";
	/* Hardware cycles if the first CPU supports them, else a clock; the same on all CPUs. */
	if (!events->name) {
		event.sample_fd = open_sampling(cpu, freq_hz, true);
		events->name = event.sample_fd >= 0 ? event_cycles : event_clock;
	}
	if (event.sample_fd < 0)
		event.sample_fd = open_sampling(cpu, freq_hz, events->name == event_cycles);
	if (event.sample_fd < 0) {
		err = event.sample_fd;
		goto fail;
	}
	*ret_what = "joining the sampling event to the side-band ring";
	if (ioctl(event.sample_fd, PERF_EVENT_IOC_SET_OUTPUT, event.sideband_fd)) {
		err = -errno;
		goto fail;
	}
	*ret = event;
	return 0;
fail:
	close_event(&event, events->sideband_bytes);
	return err;
}

int cpu_events_open(struct cpu_events *events, uint32_t freq_hz, const char **ret_what)
{
	long configured = sysconf(_SC_NPROCESSORS_CONF);
	int err;

	*events = (struct cpu_events){.sideband_bytes = SIDEBAND_BYTES};
	*ret_what = "finding CPUs";
	for (uint32_t cpu = 0; cpu < configured && cpu < JITBPF_CPUS_MAX; cpu++) {
		struct cpu_event event;

		err = open_cpu(events, cpu, freq_hz, &event, ret_what);
		if (err == -ENODEV)
			continue; /* offline */
		err = err ?: vec_push(&events->cpus, event);
		if (err) {
			cpu_events_close(events);
			return err;
		}
	}
	return events->cpus.size ? 0 : -ENODEV;
}

void cpu_events_close(struct cpu_events *events)
{
	vec_for_each (event, &events->cpus)
		close_event(event, events->sideband_bytes);
	vec_deinit(&events->cpus);
}

void cpu_events_stop_sampling(struct cpu_events *events)
{
	vec_for_each (event, &events->cpus)
		ioctl(event->sample_fd, PERF_EVENT_IOC_DISABLE, 0);
}
