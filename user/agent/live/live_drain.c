/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Drains the rings, and makes rounds of their records. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/clock.h"
#include "agent/live/live_state.h"
#include "agent/kernel/process_scan.h"
#include "agent/kernel/sideband.h"
#include "base/scope.h"
#include "uapi/loss.h"

/* How long after its exit a tracked process may still run in the kernel. */
#define EXITED_KEEP_NS 10000000000ull

/* One call of drain(). */
struct drain {
	struct live_source *live;
	record_taker_fn take;
	void *take_context;
};

/* Emit a record, unless a publisher drops it. All records except samples pass here. */
static int hand_over(void *context, const struct jitbpf_record *record)
{
	const struct drain *drain = context;
	struct live_source *live = drain->live;

	for (size_t i = 0; i < live->publisher_count; i++) {
		const struct publisher *publisher = &live->publishers[i];
		int verdict = publisher->ops->see(publisher->self, record);

		if (verdict != PUBLISHER_KEEP)
			return verdict == PUBLISHER_DROP ? 0 : verdict;
	}
	return drain->take(drain->take_context, record);
}

/*
 * Check the size of a record against its slot in the ring, which has the size of its size class.
 * Intake checks the rest of the record.
 */
static int check_slot(const struct jitbpf_record *record, size_t slot_bytes)
{
	return slot_bytes < sizeof(*record) || record->size_bytes > slot_bytes ? -EIO : 0;
}

static int take_sample(void *context, const void *slot, size_t slot_bytes)
{
	const struct drain *drain = context;
	const struct live_source *live = drain->live;
	const struct jitbpf_sample *sample = slot;
	int err = slot_bytes < sizeof(*sample) ? -EIO : check_slot(slot, slot_bytes);

	for (size_t i = 0; i < live->publisher_count && !err; i++) {
		const struct publisher *publisher = &live->publishers[i];

		if (publisher->ops->sampled)
			err = publisher->ops->sampled(publisher->self, sample->pid);
	}
	return err ?: drain->take(drain->take_context, slot);
}

/* A record of the code ring: JIT records, copied code, exits. */
static int take_code_record(void *context, const void *slot, size_t slot_bytes)
{
	const struct drain *drain = context;
	struct live_source *live = drain->live;
	const struct jitbpf_task *exit = slot;
	int err = check_slot(slot, slot_bytes);

	if (!err && exit->h.type == JITBPF_EXIT && live->bpf->rodata->only_tracked)
		err = vec_push(&live->exited,
			       ((struct exited_process){exit->pid, exit->h.time_ns}));
	return err ?: hand_over(context, slot);
}

/*
 * Remove exited processes from the BPF map some time after their exit. Until then, the kernel frees
 * their memory, and the samples of that work are theirs. A reused pid is not removed.
 */
static void untrack_exited(struct live_source *live)
{
	int fd = bpf_map__fd(live->bpf->maps.tracked);
	size_t done = 0;

	while (done < live->exited.size &&
	       live->exited.data[done].time_ns + EXITED_KEEP_NS < live->round_ns) {
		uint32_t pid = live->exited.data[done++].pid, value;

		if (!bpf_map_lookup_elem(fd, &pid, &value) && value == JITBPF_TRACKED_EXITED)
			bpf_map_delete_elem(fd, &pid);
	}
	if (!done)
		return;
	live->exited.size -= done;
	memmove(live->exited.data, live->exited.data + done,
		live->exited.size * sizeof(*live->exited.data));
}

static int keep_sideband(void *context, const struct jitbpf_record *record)
{
	const struct drain *drain = context;

	return round_buffer_add(&drain->live->sideband, record->time_ns, record);
}

/* Emit the record if it is about a profiled process. */
static int filter_sideband(void *context, const struct jitbpf_record *record)
{
	const struct drain *drain = context;
	int wanted = process_filter_take(&drain->live->tracked, record);

	return wanted <= 0 ? wanted : hand_over(context, record);
}

/*
 * With only_tracked, forks determine which later records are wanted, so the records of all CPUs are
 * sorted by time first. Records from after the start of the drain wait for the next drain, which
 * reads the other CPUs' records of that time.
 */
static int drain_sideband(struct drain *drain)
{
	struct live_source *live = drain->live;
	bool all = !live->bpf->rodata->only_tracked;

	vec_for_each (event, &live->events.cpus) {
		int err = sideband_drain(&live->events, event, live->files,
					 all ? hand_over : keep_sideband, drain,
					 &live->sideband_lost);

		if (err)
			return err;
	}
	return round_buffer_drain(&live->sideband, live->stopped ? UINT64_MAX : live->round_ns,
				  filter_sideband, drain);
}

/*
 * Update a counter from the BPF map, as the sum of all CPUs. Returns 0, or a negative errno with
 * the counter unchanged.
 */
static int read_counter(struct live_source *live, uint32_t which)
{
	int cpus = libbpf_num_possible_cpus(), fd = bpf_map__fd(live->bpf->maps.counters);
	AUTO_FREE uint64_t *values = cpus > 0 ? calloc((size_t)cpus, sizeof(*values)) : NULL;
	uint64_t sum = 0;

	if (!values)
		return cpus > 0 ? -ENOMEM : cpus;
	if (bpf_map_lookup_elem(fd, &which, values))
		return -errno;
	for (int i = 0; i < cpus; i++)
		sum += values[i];
	live->counters[which] = sum;
	return 0;
}

static int send_counters(struct drain *drain)
{
	struct live_source *live = drain->live;
	struct file_store_counts files = file_store_counts(live->files);
	struct {
		struct jitbpf_counters head;
		uint64_t values[JITBPF_COUNTER_MAX];
	} out = {.head.h = {
			 .size_bytes = sizeof(out),
			 .type = JITBPF_COUNTERS,
			 .time_ns = live->round_ns,
		 }};

	for (uint32_t i = 0; i < JITBPF_COUNTER_MAX; i++) {
		live->counters_unread += read_counter(live, i) < 0;
		out.values[i] = live->counters[i];
	}
	out.values[JITBPF_COUNT_COUNTERS_UNREAD] += live->counters_unread;
	out.values[JITBPF_COUNT_SIDEBAND_LOST] += live->sideband_lost;
	out.values[JITBPF_COUNT_FILES_UNANSWERED] += files.unanswered;
	out.values[JITBPF_COUNT_FILES_OVER_BUDGET] += files.over_budget;
	out.values[JITBPF_COUNT_MAPS_CUT] += live->maps_cut;
	for (size_t i = 0; i < live->publisher_count; i++)
		live->publishers[i].ops->count(live->publishers[i].self, out.values);
	return drain->take(drain->take_context, &out.head.h);
}

/* Emit the number of lost samples of each process. */
static int send_lost_samples(struct drain *drain)
{
	struct live_source *live = drain->live;
	struct jitbpf_lost_key key, *before = NULL;
	int fd = bpf_map__fd(live->bpf->maps.lost_samples);
	uint64_t elsewhere = live->bpf->bss->lost_elsewhere;
	struct jitbpf_lost_samples out = {.h = {
						  .size_bytes = sizeof(out),
						  .type = JITBPF_LOST_SAMPLES,
						  .time_ns = live->round_ns,
					  }};
	int err = 0;

	while (!err && !bpf_map_get_next_key(fd, before, &key)) {
		before = &key;
		if (bpf_map_lookup_elem(fd, &key, &out.count)) {
			live->counters_unread++;
			continue;
		}
		out.pid = key.pid;
		out.start_ns = key.start_ns;
		err = drain->take(drain->take_context, &out.h);
	}
	if (!err && errno != ENOENT)
		live->counters_unread++; /* listing the keys failed before the end */
	if (!err && elsewhere) {
		out.pid = 0; /* losses of processes beyond the size of the map */
		out.start_ns = 0;
		out.count = elsewhere;
		err = drain->take(drain->take_context, &out.h);
	}
	return err;
}

static int end_publishers_round(struct drain *drain)
{
	struct live_source *live = drain->live;
	int err = 0;

	for (size_t i = 0; i < live->publisher_count; i++) {
		const struct publisher *publisher = &live->publishers[i];

		err = err
			      ?: publisher->ops->round(publisher->self, live->round_ns, drain->take,
						       drain->take_context);
	}
	return err;
}

/*
 * Drain samples first, then code: any load that a sample may have run was in the code ring, or with
 * its publisher, before the sample. The side-band comes after the code for the same reason; the
 * publishers come last, since they see the mappings in it.
 *
 * A preempted process may have reserved a code record without committing it, which blocks the
 * records behind it. Then the round stays open, and its samples wait.
 */
static int drain_rings(struct drain *drain)
{
	struct live_source *live = drain->live;
	uint64_t began_ns = clock_now_ns();
	int err = 0;

	vec_for_each (ring, &live->sample_rings) {
		err = ring_drain(ring, take_sample, drain);
		if (err)
			return err;
	}
	if (!live->round_open)
		live->round_ns = began_ns;
	live->round_open = true;
	live->code_target = ring_reserved(&live->code_ring);
	err = ring_drain(&live->code_ring, take_code_record, drain);
	if (err)
		return err;
	if (ring_consumed(&live->code_ring) < live->code_target)
		return SOURCE_OPEN;
	err = drain_sideband(drain);
	err = err ?: end_publishers_round(drain);
	live->round_open = false;
	untrack_exited(live);
	return err ?: SOURCE_ROUND;
}

/* The BPF map, unlike live->tracked, has the children forked before the scan. */
static bool is_profiled(void *context, uint32_t pid)
{
	struct live_source *live = context;
	uint32_t value;

	if (!live->bpf->rodata->only_tracked)
		return true;
	if (bpf_map_lookup_elem(bpf_map__fd(live->bpf->maps.tracked), &pid, &value))
		return false;
	return !process_filter_add(&live->tracked, pid, clock_now_ns());
}

static int take_scanned_map(void *context, uint32_t pid, const struct proc_map *map)
{
	const struct live_source *live = context;
	int err = 0;

	for (size_t i = 0; i < live->publisher_count; i++)
		err = err ?: live->publishers[i].ops->scanned(live->publishers[i].self, pid, map);
	return err;
}

static int scan(struct drain *drain)
{
	struct live_source *live = drain->live;
	struct process_scan scan = {
		.files = live->files,
		.came_ns = live->came_ns,
		.wanted = is_profiled,
		.wanted_context = live,
		.take = hand_over,
		.take_context = drain,
		.take_map = take_scanned_map,
		.take_map_context = live,
		.ret_cut = &live->maps_cut,
	};

	live->scanned = true;
	return process_scan(&scan);
}

/* Read one slice of the code published before the run. Returns 1 if there is more. */
static int read_late(struct drain *drain)
{
	struct live_source *live = drain->live;
	const struct publisher *publisher = &live->publishers[live->late_done];
	int more = 0;

	if (live->late_done < live->publisher_count)
		more = publisher->ops->late(publisher->self, drain->take, drain->take_context);
	if (more)
		return more;
	return ++live->late_done < live->publisher_count;
}

/*
 * Emit the state from before the run, as of came_ns, in rounds of bounded size: processes and their
 * mappings, then the publishers' code. Records of the code ring are drained meanwhile, and wait in
 * the round buffer for their time.
 */
static int drain_past(struct drain *drain, uint64_t *ret_time_ns)
{
	struct live_source *live = drain->live;
	int more = live->scanned ? read_late(drain) : (scan(drain) ?: 1);
	int err;

	if (more < 0)
		return more;
	err = ring_drain(&live->code_ring, take_code_record, drain);
	live->ready = !more;
	*ret_time_ns = live->came_ns;
	return err ?: SOURCE_ROUND;
}

static int drain(void *context, record_taker_fn take, void *take_context, uint64_t *ret_time_ns)
{
	struct live_source *live = context;
	struct drain drain = {.live = live, .take = take, .take_context = take_context};
	int state, err;

	if (!live->ready)
		return drain_past(&drain, ret_time_ns);
	state = drain_rings(&drain);
	if (state < 0)
		return state;
	*ret_time_ns = live->round_ns;
	if (state == SOURCE_OPEN || !live->stopped)
		return state;
	err = send_lost_samples(&drain);
	err = err ?: send_counters(&drain);
	return err ?: SOURCE_END;
}

bool live_source_ready(const struct live_source *live)
{
	return live->ready;
}

uint64_t live_source_lost(struct live_source *live)
{
	read_counter(live, JITBPF_COUNT_SAMPLES_RING_FULL);
	read_counter(live, JITBPF_COUNT_JIT_RING_FULL);
	return live->counters[JITBPF_COUNT_SAMPLES_RING_FULL] +
	       live->counters[JITBPF_COUNT_JIT_RING_FULL];
}

void live_source_init_source(struct live_source *live, struct source *ret)
{
	*ret = (struct source){.drain = drain, .context = live};
}
