/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/live/live_source.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/live/live_programs.h"
#include "agent/live/live_state.h"
#include "base/scope.h"

static size_t ring_size(size_t wanted)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	while (size < wanted && size < 1u << 30)
		size *= 2;
	return size;
}

static int fail(struct live_failure *failure, int err, const char *what)
{
	failure->unsupported = err == -EPERM || err == -EACCES;
	snprintf(failure->what, sizeof(failure->what), "%s: %s%s", what, strerror(-err),
		 failure->unsupported
			 ? " (root of the machine itself is needed: in a container, run it with "
			   "--privileged; a kernel in lockdown refuses everybody)"
			 : "");
	return err;
}

static int fail_events(struct live_failure *failure, int err, uint32_t freq_hz, const char *what)
{
	uint32_t max_hz = cpu_events_max_freq_hz();

	if (err != -EINVAL || !max_hz || freq_hz <= max_hz)
		return fail(failure, err, what);
	snprintf(failure->what, sizeof(failure->what),
		 "-F %u is too high: the kernel allows %u samples per second on each CPU now: use "
		 "-F %u, or allow more: sysctl kernel.perf_event_max_sample_rate=%u",
		 freq_hz, max_hz, max_hz, freq_hz);
	return err;
}

static int fail_attach(struct live_failure *failure, int err, const struct software_event *event)
{
	char what[64];

	snprintf(what, sizeof(what), "sampling %s (-e)", event->name);
	return fail(failure, err, what);
}

/* While the large programs are loaded, the trial and the rings wait for the kernel. */
static int load_with(struct live_source *live, const struct live_options *options,
		     const struct program_types *types, const struct probe_site *site)
{
	const struct live_programs_options programs = {
		.sample_rings_fd = live->cpus.rings.map_fd,
		.code_ring_bytes = live->code_ring_bytes,
		.sample_ring_bytes = live->sample_ring_bytes,
		.only_tracked = options->only_tracked,
		.user_regs = options->user_regs,
		.many_events = options->events.count,
		.filter = &options->filter,
	};
	int err = attach_programs_load(types, &live->attach_programs);

	if (err)
		return err;
	probe_trial_start(&live->trial, site, &live->attach_programs);
	return live_programs_load(&programs, types, &live->bpf);
}

static int load_programs(struct live_source *live, const struct live_options *options,
			 const struct probe_site *site)
{
	CLEANUP(program_types_close) struct program_types types = PROGRAM_TYPES_NONE;
	int err = live_cpus_make_rings(live);

	err = err ?: program_types_open(&types);
	err = err ?: load_with(live, options, &types, site);
	live->types_fd = TAKE_FD(types.fd);
	return err ?: sample_rings_end_put(&live->cpus.rings);
}

static int watch(struct live_source *live, int fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET}; /* live_source_fd() */

	return epoll_ctl(live->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int make_rings(struct live_source *live, const struct live_options *options)
{
	int fd = bpf_map__fd(live->bpf->maps.code_ring), err;

	live->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (live->epoll_fd < 0)
		return -errno;
	err = ring_init(&live->round.code_ring, fd, live->code_ring_bytes);
	err = err ?: watch(live, fd);
	return err ?: live_cpus_create(live, options->broker, options->freq_hz);
}

static int keep_link(struct live_source *live, struct bpf_link *link)
{
	int err = link ? vec_push(&live->links, link) : -errno;

	if (err && link)
		bpf_link__destroy(link);
	return err;
}

/* Called before the scan, so that no fork and no exit is missed. */
static int attach_following(struct live_source *live)
{
	int err = keep_link(live, bpf_program__attach(live->bpf->progs.process_exit));

	err = err ?: keep_link(live, bpf_program__attach(live->bpf->progs.process_fork));
	return err ?: keep_link(live, bpf_program__attach(live->bpf->progs.process_exec));
}

static int open_owners(struct live_source *live)
{
	struct bpf_link *link = bpf_program__attach_iter(live->bpf->progs.tell_owners, NULL);
	int err = keep_link(live, link);

	if (err)
		return err;
	live->owners_fd = bpf_iter_create(bpf_link__fd(link));
	return live->owners_fd < 0 ? -errno : 0;
}

static const struct publisher_ops *const publishers[] = {&publisher_shim, &publisher_jitdump,
							 &publisher_jvm_agents};

_Static_assert(ARRAY_SIZE(publishers) <= PUBLISHERS_MAX, "room for all");

static int create_publishers(struct live_source *live, const struct live_options *options,
			     const char **ret_what)
{
	const struct publisher_host host = {
		.bpf = live->bpf,
		.files = live->round.files,
		.attacher = live->attacher,
		.trial = &live->trial,
		.owners = &live->round.owners,
		.came_ns = live->came_ns,
		.patience = &live->patience,
		.broker = options->broker,
		.load_jvm_agents = options->load_jvm_agents,
		.sampled_jvms_only = options->sampled_jvms_only,
		.ret_jvm_loads = &live->jvm_loads,
	};

	for (size_t i = 0; i < ARRAY_SIZE(publishers); i++) {
		struct publisher *publisher = &live->round.publishers[live->round.publisher_count];
		int err = publishers[i]->create(&host, &publisher->self, ret_what);

		if (err)
			return err;
		publisher->ops = publishers[i];
		live->round.publisher_count++;
	}
	return 0;
}

DEFINE_CLEANUP(struct live_source *, live_source_destroy);

int live_source_create(const struct live_options *options, const struct probe_site *site,
		       struct file_store *files, struct live_source **ret,
		       struct live_failure *failure)
{
	CLEANUP(live_source_destroyp) struct live_source *live = calloc(1, sizeof(*live));
	const struct software_event *failed;
	int err;
	const char *what;

	*failure = (struct live_failure){0};
	if (!live)
		return fail(failure, -ENOMEM, "starting");
	live->epoll_fd = live->owners_fd = live->types_fd = -1;
	live->cpus.rings = SAMPLE_RINGS_NONE;
	live->round.files = files;
	cpu_wait_open_own(&live->waits);
	cpu_wait_init_patience(&live->waits, &live->patience);
	gone_files_init(&live->round.gone, -1);
	file_store_set_owners(files, &live->round.owners);
	if (told_cgroups_init(&live->round.cgroups, files))
		return fail(failure, -ENOMEM, "starting");
	live->round.only_tracked = options->only_tracked;
	live->code_ring_bytes = ring_size(options->code_ring_bytes);
	live->sample_ring_bytes = ring_size(options->sample_ring_bytes);
	err = cpu_events_open(&live->round.events, options->freq_hz, &what);
	if (err)
		return fail_events(failure, err, options->freq_hz, what);
	err = load_programs(live, options, site);
	if (err)
		return fail(failure, err, "loading the BPF programs");
	live->round.gone.map_fd = bpf_map__fd(live->bpf->maps.files_gone);
	err = live_events_open(&live->events, &options->events, &live->round.events,
			       bpf_program__fd(live->bpf->progs.sample), &failed);
	if (err)
		return fail_attach(failure, err, failed);
	err = make_rings(live, options);
	if (err)
		return fail(failure, err, "making the rings");
	err = unwind_maps_init(&live->unwind_maps, live->bpf);
	if (err)
		return fail(failure, err, "making the unwind tables");
	err = attach_following(live);
	if (err)
		return fail(failure, err, "following forks and exits");
	err = open_owners(live);
	if (err)
		return fail(failure, err, "listing the owners of processes");
	err = attacher_create(options->broker, attach_programs_gate(&live->attach_programs),
			      live->types_fd, &live->attacher);
	if (err)
		return fail(failure, err, "starting");
	libbpf_num_possible_cpus(); /* keeps the number, which cannot be read later */
	live->came_ns = clock_now_ns();
	err = create_publishers(live, options, &what);
	if (err)
		return fail(failure, err, what);
	*ret = TAKE_PTR(live);
	return 0;
}

void live_source_destroy(struct live_source *live)
{
	if (!live)
		return;
	vec_for_each (link, &live->links)
		bpf_link__destroy(*link);
	vec_deinit(&live->links);
	while (live->round.publisher_count) {
		struct publisher *publisher =
			&live->round.publishers[--live->round.publisher_count];

		publisher->ops->destroy(publisher->self);
	}
	ring_deinit(&live->round.code_ring);
	if (live->epoll_fd >= 0)
		close(live->epoll_fd);
	if (live->owners_fd >= 0)
		close(live->owners_fd);
	live_cpus_destroy(live);
	live_events_close(&live->events);
	cpu_events_close(&live->round.events);
	attacher_destroy(live->attacher);
	scope_close(&live->types_fd);
	if (live->round.files)
		file_store_set_owners(live->round.files, NULL);
	live_round_deinit(&live->round);
	vec_deinit(&live->late_pids);
	cpu_wait_close(&live->waits);
	lost_mappings_deinit(&live->lost_mappings);
	unwind_maps_deinit(&live->unwind_maps);
	probe_trial_deinit(&live->trial);
	attach_programs_destroy(&live->attach_programs);
	jitbpf_bpf__destroy(live->bpf);
	free(live);
}

void live_source_init_kernel_source(struct live_source *live, struct kernel_source *ret)
{
	struct jitbpf_bpf *bpf = live->bpf;

	live->kernel_names = (struct kernel_names){
		.program_fd = bpf_program__fd(bpf->progs.name_kernel_address),
		.address = (uint64_t *)&bpf->bss->kernel_name_address,
		.words = bpf->bss->kernel_name,
		.words_bytes = sizeof(bpf->bss->kernel_name),
	};
	kernel_names_source(&live->kernel_names, ret);
}

void live_source_init_unwind_tables(struct live_source *live, struct unwind_tables *ret)
{
	unwind_maps_init_tables(&live->unwind_maps, ret);
}

int live_source_try_maps(struct live_source *live)
{
	uint32_t key;

	if (!bpf_map_get_next_key(bpf_map__fd(live->bpf->maps.tracked), NULL, &key) ||
	    errno == ENOENT)
		return 0;
	return -errno;
}

int live_source_track(struct live_source *live, uint32_t pid)
{
	uint32_t lives = JITBPF_TRACKED_LIVES;

	if (!live->round.only_tracked)
		return 0;
	if (bpf_map_update_elem(bpf_map__fd(live->bpf->maps.tracked), &pid, &lives, BPF_ANY))
		return -errno;
	return process_filter_add(&live->round.tracked, pid, clock_now_ns());
}

int live_source_start(struct live_source *live, struct live_failure *failure)
{
	int err = live_cpus_start(live) ?: live_events_start(&live->events);

	*failure = (struct live_failure){0};
	return err ? fail(failure, err, "attaching to the sampling event") : 0;
}

void live_source_stop(struct live_source *live)
{
	cpu_events_stop_sampling(&live->round.events);
	live_events_stop(&live->events);
	live->stopped = true;
}

int live_source_fd(const struct live_source *live)
{
	return live->epoll_fd;
}

const char *live_source_event(const struct live_source *live)
{
	return live->round.events.name;
}

struct attach_deferrals live_source_deferrals(const struct live_source *live)
{
	return attacher_deferrals(live->attacher);
}

bool live_source_take_holder(struct live_source *live, struct attach_holder *ret)
{
	return attacher_take_holder(live->attacher, ret);
}

int live_source_end_jvms(struct live_source *live)
{
	return live->jvm_loads ? jvm_loads_end(live->jvm_loads) : 0;
}

bool live_source_take_jvm(struct live_source *live, struct jvm_report *ret)
{
	return live->jvm_loads && jvm_loads_take(live->jvm_loads, ret);
}

bool live_source_waits_for_jvm(const struct live_source *live)
{
	return live->jvm_loads && jvm_loads_are_pending(live->jvm_loads);
}

struct loop_health *live_source_health(struct live_source *live)
{
	return &live->health;
}

uint32_t live_source_cpus(const struct live_source *live)
{
	return (uint32_t)live->round.events.cpus.size;
}
