/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/attach_service.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/kernel/attacher.h"
#include "agent/kernel/cpu_events.h"
#include "base/scope.h"
#include "base/vec.h"

#define SEMAPHORE_SHIFT 32 /* format/ref_ctr_offset of the PMU */

struct attached_probe {
	uint32_t id;
	int event, link;
};

struct service {
	VEC(struct attached_probe) probes;
};

/* Returns the type of uprobe events, or a negative errno. */
static int probe_type(void)
{
	AUTO_CLOSE int fd = open("/sys/bus/event_source/devices/uprobe/type", O_RDONLY | O_CLOEXEC);
	char text[16] = "";

	if (fd < 0 || pread(fd, text, sizeof(text) - 1, 0) < 0)
		return -errno;
	return atoi(text);
}

/* The file is named by the link of its descriptor, which holds in any mount namespace. */
static int open_probe(const struct attach_request *request, int file_fd)
{
	int type = probe_type(), fd;
	char path[64];
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = (uint32_t)type,
		.config = request->semaphore_offset << SEMAPHORE_SHIFT,
		.uprobe_path = (uintptr_t)path,
		.probe_offset = request->offset,
	};

	if (type < 0)
		return type;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int add_probe(struct service *service, const struct attach_request *request,
		     const struct message_fds *fds)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = request->cookie);
	AUTO_CLOSE int event = -1;
	AUTO_CLOSE int link = -1;
	int err;

	if (fds->count != 2)
		return -EINVAL;
	if (vec_reserve(&service->probes, service->probes.size + 1))
		return -ENOMEM;
	event = err = open_probe(request, fds->fd[0]);
	if (err < 0)
		return err;
	link = err = bpf_link_create(fds->fd[1], event, BPF_PERF_EVENT, &opts);
	if (err < 0)
		return err;
	if (ioctl(event, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	return vec_push(&service->probes,
			((struct attached_probe){request->id, TAKE_FD(event), TAKE_FD(link)}));
}

static void remove_probe(struct service *service, uint32_t id)
{
	vec_for_each (probe, &service->probes) {
		if (probe->id != id)
			continue;
		close(probe->link);
		close(probe->event);
		*probe = service->probes.data[--service->probes.size];
		return;
	}
}

static int add_cpu(const struct attach_request *request, struct message_fds *ret)
{
	struct cpu_event event;
	int err = cpu_event_open(request->cpu, request->freq_hz, request->hardware, &event), ring;

	if (err)
		return err;
	ring = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "sample_ring", 0, 0, request->ring_bytes, NULL);
	if (ring < 0) {
		err = -errno;
		close(event.sample_fd);
		close(event.sideband_fd);
		return err;
	}
	*ret = (struct message_fds){.count = ATTACHED_FDS};
	ret->fd[ATTACHED_SAMPLE] = event.sample_fd;
	ret->fd[ATTACHED_SIDEBAND] = event.sideband_fd;
	ret->fd[ATTACHED_RING] = ring;
	return 0;
}

static int answer(struct service *service, int socket, const struct attach_request *request,
		  const struct message_fds *fds)
{
	CLEANUP(message_fds_close) struct message_fds opened = {0};
	struct attach_reply reply = {.id = request->id};

	if (request->kind == ATTACH_REMOVE) {
		remove_probe(service, request->id);
		return 0;
	}
	if (request->kind == ATTACH_PROBE)
		reply.err = add_probe(service, request, fds);
	else
		reply.err = add_cpu(request, &opened);
	reply.attached_ns = clock_now_ns();
	return fd_message_send_fds(socket, &reply, sizeof(reply), &opened);
}

void attach_service_run(int socket)
{
	struct service service = {0};
	int err = 0;

	while (!err) {
		CLEANUP(message_fds_close) struct message_fds fds = {0};
		struct attach_request request;

		if (fd_message_receive_fds(socket, &request, sizeof(request), &fds) !=
		    sizeof(request))
			return;
		err = answer(&service, socket, &request, &fds);
	}
}
