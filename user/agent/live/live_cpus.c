/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/live/live_cpus.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "agent/live/live_state.h"
#include "base/scope.h"

static int watch(struct live_source *live, int fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET}; /* live_source_fd() */

	return epoll_ctl(live->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static struct cpu_event *find_event(struct live_source *live, uint32_t cpu)
{
	vec_for_each (event, &live->round.events.cpus) {
		if (event->cpu == cpu)
			return event;
	}
	return NULL;
}

/* Take a CPU's sample ring, which `sample_rings` owns, into the round. */
static int add_ring(struct live_source *live, int fd)
{
	struct ring ring;
	int err = vec_reserve(&live->round.sample_rings, live->round.sample_rings.size + 1);

	err = err ?: ring_init(&ring, fd, live->sample_ring_bytes);
	if (err)
		return err;
	err = watch(live, fd);
	if (err) {
		ring_deinit(&ring);
		return err;
	}
	return vec_push(&live->round.sample_rings, ring);
}

int live_cpus_make_rings(struct live_source *live)
{
	uint32_t ring_bytes = (uint32_t)live->sample_ring_bytes;
	int err = sample_rings_create(&live->cpus.rings);

	vec_for_each (event, &live->round.events.cpus)
		err = err ?: sample_rings_make(&live->cpus.rings, event->cpu, ring_bytes);
	if (!err)
		sample_rings_begin_put(&live->cpus.rings);
	return err;
}

int live_cpus_create(struct live_source *live, const struct broker *broker, uint32_t freq_hz)
{
	int err = attacher_create(broker, -1, -1, &live->cpus.attacher);

	if (err)
		return err;
	live->cpus.freq_hz = freq_hz;
	online_cpus_init(&live->cpus.online);
	vec_for_each (event, &live->round.events.cpus)
		err = err ?: watch(live, event->sideband_fd);
	vec_for_each (fd, &live->cpus.rings.fds)
		err = err ?: add_ring(live, *fd);
	return err;
}

void live_cpus_destroy(struct live_source *live)
{
	vec_for_each (ring, &live->round.sample_rings)
		ring_deinit(ring);
	vec_deinit(&live->round.sample_rings);
	sample_rings_destroy(&live->cpus.rings);
	if (!live->cpus.attacher)
		return;
	attacher_destroy(live->cpus.attacher);
	online_cpus_deinit(&live->cpus.online);
	vec_deinit(&live->cpus.requests);
}

int live_cpus_start(struct live_source *live)
{
	int program = bpf_program__fd(live->bpf->progs.sample), err = 0;

	vec_for_each (event, &live->round.events.cpus) {
		err = cpu_event_start(event, program);
		if (err)
			return err;
	}
	live->started = true;
	return 0;
}

/* --- CPUs that come later ------------------------------------------------------------- */

/* A CPU keeps its sample ring for ever; the events of its last time online are replaced. */
static int install(struct live_source *live, uint32_t cpu, struct message_fds *fds)
{
	struct cpu_event event = {
		.cpu = cpu,
		.sample_fd = fds->fd[ATTACHED_SAMPLE],
		.sideband_fd = fds->fd[ATTACHED_SIDEBAND],
	};
	struct cpu_event *old = find_event(live, cpu);
	const char *what;
	int err = vec_reserve(&live->round.events.cpus, live->round.events.cpus.size + 1);

	err = err ?: cpu_event_map(&event, &what);
	if (!err && !old) {
		int ring = fds->fd[ATTACHED_RING];

		err = sample_rings_add(&live->cpus.rings, cpu, ring);
		if (!err) {
			TAKE_FD(fds->fd[ATTACHED_RING]);
			err = add_ring(live, ring);
		}
	}
	err = err ?: watch(live, event.sideband_fd);
	if (!err && live->started)
		err = cpu_event_start(&event, bpf_program__fd(live->bpf->progs.sample));
	scope_close(&fds->fd[ATTACHED_RING]);
	if (err)
		cpu_event_close(&event);
	if (err || !old)
		return err ?: vec_push(&live->round.events.cpus, event);
	cpu_event_close(old);
	*old = event;
	return 0;
}

static void say_refused(struct live_cpus *cpus, uint32_t cpu, int err)
{
	/* The CPU has gone offline again, or the request is repeated in a second. */
	if (err == -ENODEV || err == -EBUSY || err == -EPIPE || cpu_list_has(&cpus->refused, cpu))
		return;
	cpu_list_add(&cpus->refused, cpu);
	fprintf(stderr, "jitbpf: CPU %u came online, but cannot be sampled: %s\n", cpu,
		strerror(-err));
}

static struct cpu_request *find_request(struct live_cpus *cpus, uint32_t id)
{
	vec_for_each (request, &cpus->requests) {
		if (request->id == id)
			return request;
	}
	return NULL;
}

static void take_answer(struct live_source *live, struct attach_answer *answer)
{
	struct cpu_request *found = find_request(&live->cpus, answer->id), request;
	struct lost_mappings *lost = &live->lost_mappings;
	int err = answer->err;

	if (!found) {
		message_fds_close(&answer->fds);
		return;
	}
	request = *found;
	*found = live->cpus.requests.data[--live->cpus.requests.size];
	if (!err && answer->fds.count != ATTACHED_FDS)
		err = -EMFILE; /* there was no room for them here */
	if (err)
		message_fds_close(&answer->fds);
	else
		err = install(live, request.cpu, &answer->fds);
	if (err) {
		say_refused(&live->cpus, request.cpu, err);
		return;
	}
	if (live->events.count)
		fprintf(stderr,
			"jitbpf: CPU %u came online: only CPU time is sampled there, and not the "
			"events of -e\n",
			request.cpu);
	live->cpus.left.words[request.cpu / 64] &= ~(1ull << request.cpu % 64);
	/* Until now, the side-band of this CPU was not read. */
	if (!lost->lost_ns || request.since_ns < lost->lost_ns)
		lost->lost_ns = request.since_ns;
}

static int request_events(struct live_source *live, uint32_t cpu)
{
	struct live_cpus *cpus = &live->cpus;
	struct attach_cpu wanted = {
		.cpu = cpu,
		.freq_hz = cpus->freq_hz,
		.hardware = cpu_events_are_hardware(&live->round.events),
		.ring_bytes = (uint32_t)live->sample_ring_bytes,
	};
	struct cpu_request request = {.cpu = cpu, .since_ns = cpus->looked_ns};
	int err;

	vec_for_each (pending, &cpus->requests) {
		if (pending->cpu == cpu)
			return 0;
	}
	if (vec_reserve(&cpus->requests, cpus->requests.size + 1))
		return -ENOMEM;
	err = attacher_add_cpu(cpus->attacher, &wanted, &request.id);
	if (err) {
		say_refused(cpus, cpu, err);
		return 0;
	}
	return vec_push(&cpus->requests, request);
}

static int look(struct live_source *live, uint64_t now_ns)
{
	struct live_cpus *cpus = &live->cpus;
	struct cpu_list online, left;
	int err = 0;

	if (!online_cpus_look(&cpus->online, now_ns, &online, &left))
		return 0;
	for (uint32_t cpu = 0; cpu < JITBPF_CPUS_MAX && !err; cpu++) {
		bool has_events = find_event(live, cpu);

		if (has_events && (cpu_list_has(&left, cpu) || !cpu_list_has(&online, cpu)))
			cpu_list_add(&cpus->left, cpu);
		if (cpu_list_has(&online, cpu) && !cpu_list_has(&cpus->refused, cpu) &&
		    (!has_events || cpu_list_has(&cpus->left, cpu)))
			err = request_events(live, cpu);
	}
	cpus->looked_ns = now_ns;
	return err;
}

int live_cpus_round(struct live_source *live, uint64_t now_ns)
{
	struct attach_answer answer;

	if (live->stopped)
		return 0;
	while (attacher_take(live->cpus.attacher, &answer))
		take_answer(live, &answer);
	return look(live, now_ns);
}
