/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/probes/attach_service.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/kernel/probes/attacher.h"
#include "agent/kernel/events/cpu_events.h"
#include "agent/kernel/probes/file_system.h"
#include "agent/kernel/probes/lock_holders.h"
#include "agent/kernel/bpf/uprobe.h"
#include "base/scope.h"
#include "base/vec.h"

struct attached_probe {
	uint32_t id; /* 0: it was handed over by the recorder */
	struct uprobe uprobe;
};

/* A request to add a probe, which waits for the gate. */
struct waiting_request {
	struct attach_request request;
	struct message_fds fds;
	bool told; /* -EINPROGRESS was sent, with this holder */
	uint32_t told_pid;
};

struct service {
	int socket, gate_link; /* gate_link -1: there is no gate */
	struct lock_gate gate;
	struct file_system_check file_system;
	VEC(struct attached_probe) probes;
	/* To be removed when the gate is quiet; then those of prepare(). */
	VEC(struct uprobe) leaving, nowhere;
	uint64_t prepared_ns; /* when the kernel's semaphore of forks was last used */
	VEC(struct waiting_request) waiting;
};

#define LOOK_AGAIN_MS ((int)(LOCK_LOOK_NS / 1000000))
#define WATCH_MS      ((int)(LOCK_WATCH_NS / 1000000))
#define PREPARED_NS   2000000ull /* less than a grace period of RCU */

static int add_probe(struct service *service, const struct attach_request *request,
		     const struct message_fds *fds)
{
	struct uprobe_target target = {
		.file_fd = fds->fd[0],
		.program_fd = fds->fd[1],
		.offset = request->offset,
		.semaphore_offset = request->semaphore_offset,
		.cookie = request->cookie,
	};
	struct uprobe uprobe;
	int err;

	if (vec_reserve(&service->probes, service->probes.size + 1))
		return -ENOMEM;
	err = uprobe_add(&target, &uprobe);
	service->prepared_ns = clock_now_ns();
	return err ?: vec_push(&service->probes, ((struct attached_probe){request->id, uprobe}));
}

static int keep_probe(struct service *service, struct message_fds *fds)
{
	struct attached_probe kept = {.uprobe = {-1, fds->fd[0]}};

	if (fds->count != 1)
		return -EINVAL;
	if (vec_push(&service->probes, kept))
		return -ENOMEM;
	fds->count = 0;
	return 0;
}

static bool has_leaving(const struct service *service)
{
	return service->leaving.size || service->nowhere.size;
}

/*
 * Let the next registration or removal take the locks of memory maps without a wait (uprobe.h): the
 * look at these locks comes just before. Without memory, it may wait.
 */
static void prepare(struct service *service)
{
	uint64_t now_ns = clock_now_ns();
	struct uprobe uprobe;

	if (!service->gate.look || now_ns - service->prepared_ns < PREPARED_NS ||
	    vec_reserve(&service->nowhere, service->nowhere.size + 1) ||
	    uprobe_add_nowhere(&uprobe))
		return;
	if (!has_leaving(service))
		lock_gate_watch(&service->gate, clock_now_ns());
	service->nowhere.data[service->nowhere.size++] = uprobe;
	service->prepared_ns = clock_now_ns();
}

/* Returns true if a probe may be registered immediately after. */
static bool is_open(struct service *service)
{
	if (!lock_gate_is_open(&service->gate, clock_now_ns()))
		return false;
	prepare(service);
	return lock_gate_is_open(&service->gate, clock_now_ns());
}

/* Out of memory, the probe is removed at once. */
static void begin_removal(struct service *service, struct attached_probe *probe)
{
	if (!has_leaving(service))
		lock_gate_watch(&service->gate, clock_now_ns());
	if (vec_push(&service->leaving, probe->uprobe))
		uprobe_close(&probe->uprobe);
	*probe = service->probes.data[--service->probes.size];
}

static void begin_removal_of(struct service *service, uint32_t id)
{
	vec_for_each (probe, &service->probes) {
		if (probe->id == id) {
			begin_removal(service, probe);
			return;
		}
	}
}

/* Requests are received between two removals. Returns how long to wait before the next call. */
static int remove_one(struct service *service)
{
	if (!has_leaving(service) || !lock_gate_is_quiet(&service->gate, clock_now_ns()))
		return WATCH_MS;
	if (!service->leaving.size)
		uprobe_close(&service->nowhere.data[--service->nowhere.size]);
	else if (is_open(service))
		uprobe_close(&service->leaving.data[--service->leaving.size]);
	return LOOK_AGAIN_MS;
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

static int answer(const struct service *service, const struct attach_request *request, int err,
		  const struct message_fds *opened)
{
	struct attach_reply reply = {
		.id = request->id,
		.err = err,
		.attached_ns = clock_now_ns(),
	};

	return fd_message_send_fds(service->socket, &reply, sizeof(reply), opened);
}

static int answer_cpu(const struct service *service, const struct attach_request *request)
{
	CLEANUP(message_fds_close) struct message_fds opened = {0};
	int err = add_cpu(request, &opened);

	return answer(service, request, err, &opened);
}

static int take_first(struct message_fds *fds)
{
	return fds->count ? fds->fd[--fds->count] : -1;
}

static void take_gate(struct service *service, struct message_fds *fds)
{
	service->gate_link = take_first(fds);
	if (service->gate_link < 0)
		return;
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

/*
 * Check the file before the gate, since the first check takes long: it loads a program. The layers
 * of a file do not change. Returns 0 or a negative errno.
 */
static int check_probe(struct service *service, const struct attach_request *request,
		       const struct message_fds *fds)
{
	if (fds->count != 2)
		return -EINVAL;
	return request->checks_file && !file_system_allows_probe(&service->file_system, fds->fd[0])
		       ? -EPERM
		       : 0;
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
	if (request->kind == ATTACH_GATE && service->gate_link < 0)
		take_gate(service, &fds);
	if (request->kind == ATTACH_TYPES && service->file_system.types_fd < 0)
		service->file_system.types_fd = take_first(&fds);
	if (request->kind == ATTACH_CPU)
		return answer_cpu(service, request);
	if (request->kind == ATTACH_KEEP)
		return keep_probe(service, &fds);
	if (request->kind == ATTACH_REMOVE && !drop_waiting(service, request->id))
		begin_removal_of(service, request->id);
	if (request->kind != ATTACH_PROBE)
		return 0;
	err = check_probe(service, request, &fds);
	if (err)
		return answer(service, request, err, &(struct message_fds){0});
	waiting.fds = fds;
	err = vec_push(&service->waiting, waiting);
	if (!err)
		fds = (struct message_fds){0};
	return err;
}

/* Report to the recorder which requests wait, and for which process. */
static int tell_waiting(struct service *service)
{
	const struct jitbpf_lock_holder *holder = &service->gate.holder;
	int err = 0;

	vec_for_each (waiting, &service->waiting) {
		struct attach_reply reply = {
			.id = waiting->request.id,
			.err = -EINPROGRESS,
			.holder_pid = holder->pid,
			.holder_uid = holder->uid,
		};

		if (err || (waiting->told && waiting->told_pid == holder->pid))
			continue;
		err = fd_message_send(service->socket, &reply, sizeof(reply), -1);
		waiting->told = true;
		waiting->told_pid = holder->pid;
	}
	return err;
}

/* Handle what waits, as long as the gate is open: it is checked before each registration. */
static int handle_waiting(struct service *service)
{
	int err = 0;

	while (!err && service->waiting.size && is_open(service)) {
		struct waiting_request first = service->waiting.data[0];

		service->waiting.size--;
		memmove(service->waiting.data, service->waiting.data + 1,
			service->waiting.size * sizeof(first));
		err = add_probe(service, &first.request, &first.fds);
		err = answer(service, &first.request, err, &(struct message_fds){0});
		message_fds_close(&first.fds);
	}
	return err ?: tell_waiting(service);
}

void attach_service_run(int socket)
{
	struct service service = {.socket = socket, .gate_link = -1, .file_system.types_fd = -1};
	struct pollfd request = {.fd = socket, .events = POLLIN};
	int err = 0, remove_ms = WATCH_MS;

	while (!err) {
		int wait_ms = service.waiting.size    ? LOOK_AGAIN_MS
			      : has_leaving(&service) ? remove_ms
						      : -1;
		int ready = poll(&request, 1, wait_ms);

		err = ready > 0 ? receive(&service) : 0;
		err = err ?: handle_waiting(&service);
		remove_ms = remove_one(&service);
	}
	while (service.probes.size)
		begin_removal(&service, service.probes.data);
	while (has_leaving(&service))
		poll(NULL, 0, remove_one(&service));
}
