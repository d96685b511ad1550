/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The live source's drain: the state from before the run, then rounds, then the counters. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/files/copied_text.h"
#include "agent/live/live_counts.h"
#include "agent/kernel/proc/process_scan.h"
#include "base/scope.h"

/* A tracked process may still run in the kernel for this long after its exit. */
#define EXITED_KEEP_NS 10000000000ull

static int emit(void *context, const struct jitbpf_record *record)
{
	const struct live_drain *drain = context;

	return live_round_emit(&drain->live->round, record, drain->take, drain->take_context);
}

/*
 * Remove exited processes from the BPF map EXITED_KEEP_NS after their exit. Until then, the kernel
 * may still free their memory, and the samples of this work belong to them. A pid that a new
 * process has is not removed.
 */
static void untrack_exited(struct live_source *live)
{
	__typeof__(live->round.exited) *exited = &live->round.exited;
	int fd = bpf_map__fd(live->bpf->maps.tracked);
	size_t done = 0;

	while (done < exited->size &&
	       exited->data[done].time_ns + EXITED_KEEP_NS < live->round.begin_ns) {
		uint32_t pid = exited->data[done++].pid, value;

		if (!bpf_map_lookup_elem(fd, &pid, &value) && value == JITBPF_TRACKED_EXITED)
			bpf_map_delete_elem(fd, &pid);
	}
	if (!done)
		return;
	exited->size -= done;
	memmove(exited->data, exited->data + done, exited->size * sizeof(*exited->data));
}

/* The start of sampling waits this long, by live->patience, for an answer to the scan. */
#define SCAN_WAIT_NS 300000000ull

/* The start of sampling waits this long, by live->patience, for JVMs to load the agent. */
#define JVMS_WAIT_NS 2000000000ull

#define LOST_STEP_NS 1000000000ull /* between searches for lost samples of ended processes */

static void pids_deinit(process_pids *pids)
{
	vec_deinit(pids);
}

/* The BPF map, unlike round.tracked, has the children forked before the scan. */
static bool is_profiled(void *context, uint32_t pid)
{
	struct live_source *live = context;
	uint32_t value;

	if (!live->round.only_tracked)
		return true;
	if (bpf_map_lookup_elem(bpf_map__fd(live->bpf->maps.tracked), &pid, &value))
		return false;
	return !process_filter_add(&live->round.tracked, pid, clock_now_ns());
}

/*
 * List the tracked processes. If a pid is removed from the map during the walk, the kernel starts
 * the walk again, so the number of pids is limited and duplicates are possible.
 */
static int list_tracked(void *context, process_pids *ret)
{
	const struct bpf_map *map = ((struct live_source *)context)->bpf->maps.tracked;
	size_t most = 2ul * bpf_map__max_entries(map);
	uint32_t *last = NULL, pid;
	int err = 0;

	while (!err && ret->size < most && !bpf_map_get_next_key(bpf_map__fd(map), last, &pid)) {
		err = vec_push(ret, pid);
		last = &pid;
	}
	return err || ret->size < most ? err : process_scan_list(ret);
}

static int take_scanned_map(void *context, uint32_t pid, const struct proc_map *map)
{
	const struct live_source *live = context;
	int err = 0;

	for (size_t i = 0; i < live->round.publisher_count; i++)
		err = err
			      ?: live->round.publishers[i].ops->scanned(
					 live->round.publishers[i].self, pid, map);
	return err;
}

/*
 * Emit the owners of the running processes, as of before the scan, which needs them. A BPF program
 * writes them to the code ring.
 */
static int tell_owners(struct live_drain *drain)
{
	struct live_source *live = drain->live;
	char none[64]; /* the program writes no text */
	ssize_t got;

	live->bpf->bss->owners_time_ns = live->came_ns - 1;
	do {
		got = read(live->owners_fd, none, sizeof(none));
	} while (got > 0 || (got < 0 && errno == EAGAIN));
	if (got < 0)
		return -errno;
	return live_round_drain_code(&live->round, drain->take, drain->take_context);
}

static struct process_scan scan_of(struct live_drain *drain)
{
	struct live_source *live = drain->live;

	return (struct process_scan){
		.files = live->round.files,
		.came_ns = live->came_ns,
		.wanted = is_profiled,
		.list = live->round.only_tracked ? list_tracked : NULL,
		.wanted_context = live,
		.take = emit,
		.take_context = drain,
		.take_map = take_scanned_map,
		.take_map_context = live,
		.ret_cut = &live->maps_cut,
		.ret_late = &live->late_pids,
	};
}

static int scan(struct live_drain *drain)
{
	struct process_scan scan = scan_of(drain);

	drain->live->scanned = true;
	return tell_owners(drain) ?: process_scan(&scan);
}

/* emit() for records that were read again. Publishers ignore DOUBTFUL mappings. */
static int emit_again(void *context, const struct jitbpf_record *record)
{
	const struct live_drain *drain = context;

	if (record->type == JITBPF_MAPPING && record->flags & JITBPF_MAPPING_DOUBTFUL)
		return drain->take(drain->take_context, record);
	return emit(context, record);
}

/*
 * Read processes that did not answer the scan. The state as of the start has been emitted already,
 * so their mappings are emitted as after a loss.
 */
static int scan_late(struct live_drain *drain)
{
	struct live_source *live = drain->live;
	struct process_scan scan = scan_of(drain);
	process_pids pids = live->late_pids;
	int err = 0;

	live->late_pids = (process_pids){0};
	scan.take = emit_again;
	vec_for_each (pid, &pids)
		err = err ?: process_scan_again(&scan, *pid, live->came_ns, live->round.begin_ns);
	vec_deinit(&pids);
	return err;
}

static int recover_mappings(struct live_drain *drain)
{
	struct live_source *live = drain->live;
	struct process_scan scan = scan_of(drain);
	int err = live->late_pids.size ? scan_late(drain) : 0;

	if (err)
		return err;
	scan.take = emit_again;
	scan.take_map = NULL;
	return lost_mappings_round(&live->lost_mappings, live->round.sideband_lost,
				   live->round.begin_ns, &scan);
}

/* Emit the mappings whose files were identified late, or whose text was compared late. */
static int send_identified(struct live_drain *drain)
{
	struct live_source *live = drain->live;
	int err = 0;

	while (!err) {
		struct jitbpf_mapping *identified = file_store_take_identified(live->round.files);
		AUTO_FREE struct jitbpf_mapping *mapping =
			identified ?: copied_text_take(live->round.files);

		if (!mapping)
			break;
		mapping->h.flags |=
			identified ? JITBPF_MAPPING_IDENTIFIED : JITBPF_MAPPING_READ_AGAIN;
		mapping->h.time_ns = live->round.begin_ns;
		err = drain->take(drain->take_context, &mapping->h);
	}
	return err;
}

/* Read one slice of the code published before the run. Returns 1 if there is more. */
static int read_late(struct live_drain *drain)
{
	struct live_source *live = drain->live;
	const struct publisher *publisher = &live->round.publishers[live->late_done];
	int more = 0;

	if (live->late_done < live->round.publisher_count)
		more = publisher->ops->late(publisher->self, drain->take, drain->take_context);
	if (more)
		return more;
	return ++live->late_done < live->round.publisher_count;
}

/*
 * Scan, and wait a while for processes that do not answer. Returns 1 if there is more, 0 or a
 * negative errno.
 */
static int scan_more(struct live_drain *drain)
{
	struct live_source *live = drain->live;
	struct process_scan again = scan_of(drain);
	size_t left = live->late_pids.size;
	int err;

	if (!live->scanned) {
		err = scan(drain);
		live->scan_end_ns = patience_now_ns(&live->patience) + SCAN_WAIT_NS;
		return err ?: 1;
	}
	if (!left || patience_now_ns(&live->patience) > live->scan_end_ns)
		return 0;
	poll(NULL, 0, 1);
	err = process_scan_late(&again, &live->late_pids);
	if (live->late_pids.size < left) /* a process has answered, so others may */
		live->scan_end_ns = patience_now_ns(&live->patience) + SCAN_WAIT_NS;
	return err ?: 1;
}

/*
 * Wait up to JVMS_WAIT_NS for the agents of running JVMs, and scan these JVMs again. Then their
 * agents and journals count as from before the run, so that the first samples have names. Returns 1
 * if there is more, 0 or a negative errno.
 */
static int load_agents(struct live_drain *drain)
{
	CLEANUP(pids_deinit) process_pids loaded = {0};
	struct live_source *live = drain->live;
	struct process_scan again = scan_of(drain);
	uint64_t now_ns = patience_now_ns(&live->patience);
	int err;

	if (!live->jvm_loads || live->jvms_end_ns == UINT64_MAX)
		return 0;
	if (!live->jvms_end_ns)
		live->jvms_end_ns = now_ns + JVMS_WAIT_NS;
	err = jvm_loads_turn(live->jvm_loads);
	if (!err && jvm_loads_are_pending(live->jvm_loads) && now_ns < live->jvms_end_ns) {
		poll(NULL, 0, 1);
		return 1;
	}
	live->jvms_end_ns = UINT64_MAX;
	err = err ?: jvm_loads_take_loaded(live->jvm_loads, &loaded);
	if (!err && loaded.size)
		err = process_scan_late(&again, &loaded);
	return err;
}

/*
 * Emit the state from before the run, as of came_ns, in rounds of bounded size: processes and their
 * mappings, then the publishers' code. Records of the code ring are drained meanwhile, and wait in
 * the round buffer for their time.
 */
static int drain_past(struct live_drain *drain, uint64_t *ret_time_ns)
{
	struct live_source *live = drain->live;
	int more, err;

	file_store_begin_turn(live->round.files);
	more = scan_more(drain) ?: load_agents(drain);
	if (!more)
		more = read_late(drain);
	if (more < 0)
		return more;
	err = live_round_drain_code(&live->round, drain->take, drain->take_context);
	live->ready = !more;
	*ret_time_ns = live->came_ns;
	return err ?: SOURCE_ROUND;
}

/*
 * Take the wake-ups so far, since this round reads what they are for. Without that, any data in a
 * ring would end the wait for the next round.
 */
static void take_wakes(const struct live_source *live)
{
	struct epoll_event events[16];
	const int most = ARRAY_SIZE(events);

	while (epoll_wait(live->epoll_fd, events, most, 0) == most)
		;
}

static int drain(void *context, record_taker_fn take, void *take_context, uint64_t *ret_time_ns)
{
	struct live_source *live = context;
	struct live_drain drain = {.live = live, .take = take, .take_context = take_context};
	int state, err;

	if (!live->ready)
		return drain_past(&drain, ret_time_ns);
	take_wakes(live);
	err = live_cpus_round(live, clock_now_ns());
	if (err)
		return err;
	file_store_begin_turn(live->round.files);
	state = live_round_drain(&live->round, live->stopped, take, take_context);
	if (state < 0)
		return state;
	if (state == SOURCE_ROUND) {
		untrack_exited(live);
		err = recover_mappings(&drain);
		err = err ?: send_identified(&drain);
		err = err ?: live_counts_send_deferrals(&drain);
		if (err)
			return err;
	}
	if (state == SOURCE_ROUND && live->round.begin_ns >= live->lost_ns) {
		live->lost_ns = live->round.begin_ns + LOST_STEP_NS;
		err = live_counts_send_lost(&drain, false);
		if (err)
			return err;
	}
	*ret_time_ns = live->round.begin_ns;
	if (state == SOURCE_OPEN || !live->stopped)
		return state;
	err = live_counts_send_lost(&drain, true);
	err = err ?: live_counts_send(&drain);
	return err ?: SOURCE_END;
}

bool live_source_ready(const struct live_source *live)
{
	return live->ready;
}

void live_source_init_source(struct live_source *live, struct source *ret)
{
	*ret = (struct source){.drain = drain, .context = live};
}
