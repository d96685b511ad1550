/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/events/cpu_events.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/scope.h"
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

void cpu_event_close(struct cpu_event *event)
{
	if (event->sideband)
		munmap(event->sideband, SIDEBAND_BYTES + (size_t)sysconf(_SC_PAGESIZE));
	scope_close(&event->sideband_fd);
	scope_close(&event->sample_fd);
}

int cpu_event_map(struct cpu_event *event, const char **ret_what)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *ring = mmap(NULL, SIDEBAND_BYTES + page, PROT_READ | PROT_WRITE, MAP_SHARED,
			  event->sideband_fd, 0);

	*ret_what = "mapping the side-band ring";
	if (ring == MAP_FAILED)
		return -errno;
	event->sideband = ring;
	*ret_what = "joining the sampling event to the side-band ring";
	return ioctl(event->sample_fd, PERF_EVENT_IOC_SET_OUTPUT, event->sideband_fd) ? -errno : 0;
}

static int open_cpu(struct cpu_events *events, uint32_t cpu, uint32_t freq_hz,
		    struct cpu_event *ret, const char **ret_what)
{
	struct cpu_event event;
	int err = -ENODEV;

	*ret_what = "opening the perf events";
	/* Hardware cycles if the first CPU supports them, else a clock; the same on all CPUs. */
	if (!events->name || events->name == event_cycles)
		err = cpu_event_open(cpu, freq_hz, true, &event);
	if (err && events->name != event_cycles)
		err = cpu_event_open(cpu, freq_hz, false, &event);
	else if (!err)
		events->name = event_cycles;
	if (err)
		return err;
	events->name = events->name ?: event_clock;
	err = cpu_event_map(&event, ret_what);
	if (err)
		cpu_event_close(&event);
	else
		*ret = event;
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

uint32_t cpu_events_max_freq_hz(void)
{
	AUTO_FCLOSE FILE *file = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	uint32_t freq_hz;

	return file && fscanf(file, "%" SCNu32, &freq_hz) == 1 ? freq_hz : 0;
}

void cpu_events_close(struct cpu_events *events)
{
	vec_for_each (event, &events->cpus)
		cpu_event_close(event);
	vec_deinit(&events->cpus);
}

bool cpu_events_are_hardware(const struct cpu_events *events)
{
	return events->name == event_cycles;
}

int cpu_event_start(const struct cpu_event *event, int program_fd)
{
	if (ioctl(event->sample_fd, PERF_EVENT_IOC_SET_BPF, program_fd) ||
	    ioctl(event->sample_fd, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	return 0;
}

void cpu_events_stop_sampling(struct cpu_events *events)
{
	vec_for_each (event, &events->cpus)
		ioctl(event->sample_fd, PERF_EVENT_IOC_DISABLE, 0);
}
