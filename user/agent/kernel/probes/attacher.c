/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/probes/attacher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "agent/clock.h"
#include "agent/kernel/probes/attach_service.h"
#include "base/scope.h"
#include "base/vec.h"

#define ATTACH_SLOW_NS 200000000ull /* a process that takes longer gets no further requests */

struct attacher_process {
	int socket;	   /* -1: not started, or it has died */
	uint32_t pending;  /* unanswered requests */
	uint64_t since_ns; /* of the first of them, or of the answer before it */
};

/* A pending request, or an attached probe. */
struct attachment {
	uint32_t id, process;
	bool pending, deferred;
	uint64_t deferred_ns; /* when it was */
};

struct attacher {
	const struct broker *broker;
	int gate_link, types_fd;
	struct attach_deferrals deferrals;
	struct attach_holder holders[ATTACH_HOLDERS_MAX]; /* all of the run, each once */
	size_t holders_count, holders_taken;
	struct attacher_process processes[ATTACHERS_MAX];
	VEC(struct attachment) attachments;
	uint32_t last_id;
};

int attacher_create(const struct broker *broker, int gate_link, int types_fd, struct attacher **ret)
{
	struct attacher *attacher = calloc(1, sizeof(*attacher));

	if (!attacher)
		return -ENOMEM;
	attacher->broker = broker;
	attacher->gate_link = gate_link;
	attacher->types_fd = types_fd;
	for (size_t i = 0; i < ATTACHERS_MAX; i++)
		attacher->processes[i].socket = -1;
	*ret = attacher;
	return 0;
}

void attacher_destroy(struct attacher *attacher)
{
	if (!attacher)
		return;
	for (size_t i = 0; i < ATTACHERS_MAX; i++)
		scope_close(&attacher->processes[i].socket);
	vec_deinit(&attacher->attachments);
	free(attacher);
}

static int start(struct attacher *attacher, struct attacher_process *process)
{
	int socket = broker_connect(attacher->broker, ROLE_ATTACHER), err = 0;
	struct attach_request gate = {.kind = ATTACH_GATE}, types = {.kind = ATTACH_TYPES};

	if (socket < 0)
		return socket;
	if (fcntl(socket, F_SETFL, O_NONBLOCK)) {
		close(socket);
		return -errno;
	}
	*process = (struct attacher_process){.socket = socket};
	if (attacher->gate_link >= 0)
		err = fd_message_send(socket, &gate, sizeof(gate), attacher->gate_link);
	if (!err && attacher->types_fd >= 0)
		err = fd_message_send(socket, &types, sizeof(types), attacher->types_fd);
	return err;
}

static bool has_attachments(const struct attacher *attacher, uint32_t process)
{
	vec_for_each (attachment, &attacher->attachments) {
		if (attachment->process == process)
			return true;
	}
	return false;
}

/* Returns the number of a process that answers, started if necessary, or a negative errno. */
static int process_for(struct attacher *attacher)
{
	uint64_t now_ns = clock_now_ns();

	for (int i = 0; i < ATTACHERS_MAX; i++) {
		struct attacher_process *process = &attacher->processes[i];

		/*
		 * A process that died is replaced once attacher_take() has reported its
		 * attachments.
		 */
		if (process->socket < 0 && !has_attachments(attacher, (uint32_t)i))
			return start(attacher, process) ?: i;
		if (process->socket >= 0 &&
		    (!process->pending || now_ns - process->since_ns < ATTACH_SLOW_NS))
			return i;
	}
	return -EBUSY;
}

static int add(struct attacher *attacher, struct attach_request *request,
	       const struct message_fds *fds, uint32_t *ret_id)
{
	int number = process_for(attacher), err;
	struct attacher_process *process;

	if (number < 0)
		return number;
	if (vec_reserve(&attacher->attachments, attacher->attachments.size + 1))
		return -ENOMEM;
	process = &attacher->processes[number];
	request->id = ++attacher->last_id;
	err = fd_message_send_fds(process->socket, request, sizeof(*request), fds);
	if (err)
		return err == -EAGAIN ? -EBUSY : err;
	if (!process->pending++)
		process->since_ns = clock_now_ns();
	*ret_id = request->id;
	return vec_push(&attacher->attachments,
			((struct attachment){request->id, (uint32_t)number, true, false, 0}));
}

int attacher_add_probe(struct attacher *attacher, const struct uprobe_target *target,
		       bool checks_file, uint32_t *ret_id)
{
	struct message_fds fds = {.fd = {target->file_fd, target->program_fd}, .count = 2};
	struct attach_request request = {
		.kind = ATTACH_PROBE,
		.offset = target->offset,
		.semaphore_offset = target->semaphore_offset,
		.cookie = target->cookie,
		.checks_file = checks_file,
	};

	return add(attacher, &request, &fds, ret_id);
}

int attacher_add_cpu(struct attacher *attacher, const struct attach_cpu *cpu, uint32_t *ret_id)
{
	struct attach_request request = {
		.kind = ATTACH_CPU,
		.cpu = cpu->cpu,
		.freq_hz = cpu->freq_hz,
		.hardware = cpu->hardware,
		.ring_bytes = cpu->ring_bytes,
	};

	return add(attacher, &request, &(struct message_fds){0}, ret_id);
}

int attacher_keep(struct attacher *attacher, const struct uprobe *uprobe)
{
	const int fds[] = {uprobe->link, uprobe->event};
	struct attach_request request = {.kind = ATTACH_KEEP};
	int number = process_for(attacher), err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fds) && number >= 0; i++) {
		if (fds[i] >= 0 && !err)
			err = fd_message_send(attacher->processes[number].socket, &request,
					      sizeof(request), fds[i]);
	}
	return number < 0 ? number : err;
}

static struct attachment *find(struct attacher *attacher, uint32_t id)
{
	vec_for_each (attachment, &attacher->attachments) {
		if (attachment->id == id)
			return attachment;
	}
	return NULL;
}

static void forget(struct attacher *attacher, struct attachment *attachment)
{
	*attachment = attacher->attachments.data[--attacher->attachments.size];
}

void attacher_remove(struct attacher *attacher, uint32_t id)
{
	struct attach_request request = {.kind = ATTACH_REMOVE, .id = id};
	struct attachment *attachment = find(attacher, id);

	if (!attachment)
		return;
	/* If the socket is full, the process is blocked; its attachments end with the process. */
	fd_message_send(attacher->processes[attachment->process].socket, &request, sizeof(request),
			-1);
	forget(attacher, attachment);
}

/* A process has died. Returns false if none of its attachments is left to report. */
static bool take_lost(struct attacher *attacher, uint32_t process, struct attach_answer *ret)
{
	vec_for_each (attachment, &attacher->attachments) {
		if (attachment->process != process)
			continue;
		*ret = (struct attach_answer){.id = attachment->id, .err = -EPIPE};
		forget(attacher, attachment);
		return true;
	}
	return false;
}

static void see_holder(struct attacher *attacher, struct attach_holder holder)
{
	attacher->deferrals.last = holder;
	for (size_t i = 0; i < attacher->holders_count; i++) {
		if (attacher->holders[i].pid == holder.pid &&
		    attacher->holders[i].uid == holder.uid)
			return;
	}
	if (attacher->holders_count < ATTACH_HOLDERS_MAX)
		attacher->holders[attacher->holders_count++] = holder;
}

/* The process waits until a lock is free. It takes further requests meanwhile. */
static void defer(struct attacher *attacher, struct attachment *attachment,
		  const struct attach_reply *reply)
{
	see_holder(attacher, (struct attach_holder){reply->holder_pid, reply->holder_uid});
	if (attachment->deferred)
		return;
	attachment->deferred = true;
	attachment->deferred_ns = clock_now_ns();
	attacher->deferrals.count++;
}

static void keep_longest(uint64_t *longest_ns, const struct attachment *attachment)
{
	uint64_t waited_ns = attachment->deferred ? clock_now_ns() - attachment->deferred_ns : 0;

	*longest_ns = waited_ns > *longest_ns ? waited_ns : *longest_ns;
}

/* Returns true if an answer was received that somebody waits for. */
static bool receive(struct attacher *attacher, struct attacher_process *process,
		    struct attach_answer *ret)
{
	struct attach_reply reply;
	struct message_fds fds;
	ssize_t got;

	while ((got = fd_message_receive_fds(process->socket, &reply, sizeof(reply), &fds)) ==
	       sizeof(reply)) {
		struct attachment *attachment = find(attacher, reply.id);

		/* A deferred request was answered before: the process answers. */
		process->pending -= process->pending && !(attachment && attachment->deferred);
		process->since_ns = clock_now_ns();
		if (attachment && attachment->pending && reply.err == -EINPROGRESS) {
			defer(attacher, attachment, &reply);
			continue;
		}
		if (!attachment || !attachment->pending) {
			message_fds_close(&fds); /* the request was removed before its answer */
			continue;
		}
		keep_longest(&attacher->deferrals.longest_ns, attachment);
		attachment->pending = attachment->deferred = false;
		if (reply.err)
			forget(attacher, attachment);
		*ret = (struct attach_answer){reply.id, reply.err, reply.attached_ns, fds};
		return true;
	}
	message_fds_close(&fds);
	if (got != -EAGAIN)
		close(TAKE_FD(process->socket));
	return false;
}

bool attacher_is_deferred(const struct attacher *attacher, uint32_t id)
{
	vec_for_each (attachment, &attacher->attachments) {
		if (attachment->id == id)
			return attachment->deferred;
	}
	return false;
}

struct attach_deferrals attacher_deferrals(const struct attacher *attacher)
{
	struct attach_deferrals deferrals = attacher->deferrals;

	vec_for_each (attachment, &attacher->attachments) {
		deferrals.waiting += attachment->deferred;
		keep_longest(&deferrals.longest_ns, attachment);
	}
	return deferrals;
}

bool attacher_take_holder(struct attacher *attacher, struct attach_holder *ret)
{
	if (attacher->holders_taken == attacher->holders_count)
		return false;
	*ret = attacher->holders[attacher->holders_taken++];
	return true;
}

bool attacher_take(struct attacher *attacher, struct attach_answer *ret)
{
	for (uint32_t i = 0; i < ATTACHERS_MAX; i++) {
		struct attacher_process *process = &attacher->processes[i];

		if (process->socket >= 0 && receive(attacher, process, ret))
			return true;
		if (process->socket < 0 && take_lost(attacher, i, ret))
			return true;
	}
	return false;
}
