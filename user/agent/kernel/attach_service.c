/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/attach_service.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/kernel/attacher.h"
#include "agent/kernel/cpu_events.h"
#include "agent/kernel/lock_holders.h"
#include "base/scope.h"
#include "base/vec.h"

#define SEMAPHORE_SHIFT 32 /* format/ref_ctr_offset of the PMU */

struct attached_probe {
	uint32_t id;
	int event, link;
};

/* A request to add or remove a probe, which waits for the gate. */
struct waiting_request {
	struct attach_request request;
	struct message_fds fds;
	bool told; /* -EINPROGRESS was sent */
};

struct service {
	int socket, gate_link; /* gate_link -1: there is no gate */
	struct lock_gate gate;
	VEC(struct attached_probe) probes;
	VEC(struct waiting_request) waiting;
};

#define LOOK_AGAIN_MS (LOCK_LOOK_NS / 1000000)

static bool gate_is_open(struct service *service)
{
	return service->gate_link < 0 || lock_gate_is_open(&service->gate, clock_now_ns());
}

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

static int answer(struct service *service, const struct attach_request *request,
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
	return fd_message_send_fds(service->socket, &reply, sizeof(reply), &opened);
}

static void take_gate(struct service *service, struct message_fds *fds)
{
	if (service->gate_link >= 0 || !fds->count)
		return;
	service->gate_link = fds->fd[0];
	fds->fd[0] = -1;
	service->gate = (struct lock_gate){
		.look = lock_holders_look,
		.context = &service->gate_link,
	};
}

/* Drop the request to add a probe that is now to be removed. Returns false if there is none. */
static bool drop_waiting(struct service *service, uint32_t id)
{
	vec_for_each (waiting, &service->waiting) {
		if (waiting->request.id != id)
			continue;
		message_fds_close(&waiting->fds);
		*waiting = service->waiting.data[--service->waiting.size];
		return true;
	}
	return false;
}

/* Receive a request. Returns 0 or a negative errno: -EPIPE if jitbpf has exited. */
static int receive(struct service *service)
{
	CLEANUP(message_fds_close) struct message_fds fds = {0};
	struct waiting_request waiting = {0};
	struct attach_request *request = &waiting.request;
	int err;

	if (fd_message_receive_fds(service->socket, request, sizeof(*request), &fds) !=
	    sizeof(*request))
		return -EPIPE;
	if (request->kind == ATTACH_GATE)
		take_gate(service, &fds);
	if (request->kind == ATTACH_CPU)
		return answer(service, request, &fds);
	if (request->kind != ATTACH_PROBE &&
	    (request->kind != ATTACH_REMOVE || drop_waiting(service, request->id)))
		return 0;
	waiting.fds = fds;
	err = vec_push(&service->waiting, waiting);
	if (!err)
		fds = (struct message_fds){0};
	return err;
}

/* Tell the recorder which requests wait, once each, and who holds its lock. */
static int tell_waiting(struct service *service)
{
	int err = 0;

	vec_for_each (waiting, &service->waiting) {
		struct attach_reply reply = {
			.id = waiting->request.id,
			.err = -EINPROGRESS,
			.holder_pid = service->gate.holder.pid,
			.holder_uid = service->gate.holder.uid,
		};

		if (waiting->told || waiting->request.kind != ATTACH_PROBE || err)
			continue;
		err = fd_message_send(service->socket, &reply, sizeof(reply), -1);
		waiting->told = true;
	}
	return err;
}

/* Handle what waits, as long as the gate is open: it is checked before each registration. */
static int handle_waiting(struct service *service)
{
	int err = 0;

	while (!err && service->waiting.size && gate_is_open(service)) {
		struct waiting_request first = service->waiting.data[0];

		service->waiting.size--;
		memmove(service->waiting.data, service->waiting.data + 1,
			service->waiting.size * sizeof(first));
		err = answer(service, &first.request, &first.fds);
		message_fds_close(&first.fds);
	}
	return err ?: tell_waiting(service);
}

void attach_service_run(int socket)
{
	struct service service = {.socket = socket, .gate_link = -1};
	struct pollfd request = {.fd = socket, .events = POLLIN};
	int err = 0;

	while (!err) {
		int ready = poll(&request, 1, service.waiting.size ? (int)LOOK_AGAIN_MS : -1);

		err = ready > 0 ? receive(&service) : 0;
		err = err ?: handle_waiting(&service);
	}
	while (service.probes.size && !gate_is_open(&service))
		poll(NULL, 0, (int)LOOK_AGAIN_MS);
}
