/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Draining: how what came through several rings becomes rounds. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "agent/clock.h"
#include "agent/kernel/live_state.h"
#include "agent/kernel/process_scan.h"
#include "agent/kernel/sideband.h"
#include "base/scope.h"
#include "uapi/loss.h"

/* How long after its exit a tracked process may still be at work. */
#define EXITED_KEEP_NS 10000000000ull

struct drain_taker {
	record_taker_fn take;
	void *context;
};

struct code_taker {
	struct live_source *live;
	struct drain_taker *taker;
};

struct sideband_filter {
	struct live_source *live;
	struct drain_taker *taker;
};

/*
 * A ring's record is as large as its size class; the record says how much of it
 * counts. Whether that is right, the pipeline checks, like everything else.
 */
static int take_ring_record(void *context, const void *bytes, size_t size_bytes)
{
	struct drain_taker *taker = context;
	const struct jitbpf_record *record = bytes;

	if (size_bytes < sizeof(*record) || record->size_bytes > size_bytes)
		return -EIO; /* our own program wrote it: this cannot be */
	return taker->take(taker->context, record);
}

static bool is_repeated(struct live_source *live, const void *bytes, size_t size_bytes)
{
	const struct jitbpf_jit *jit = bytes;

	return size_bytes >= sizeof(*jit) && jit->data_bytes <= size_bytes - sizeof(*jit) &&
	       shim_copies_repeats(&live->copies, jit);
}

/* What comes through the code ring: JIT records, and exits, which we take note of. */
static int take_code_record(void *context, const void *bytes, size_t size_bytes)
{
	struct code_taker *code = context;
	const struct jitbpf_task *exit = bytes;
	struct live_source *live = code->live;

	if (exit->h.type == JITBPF_JIT && is_repeated(live, bytes, size_bytes))
		return 0;
	if (exit->h.type == JITBPF_EXIT)
		journal_recovery_exited(&live->recovery, exit->pid);
	if (exit->h.type == JITBPF_EXIT && live->bpf->rodata->only_tracked) {
		struct exited_process exited = {.pid = exit->pid, .time_ns = exit->h.time_ns};

		if (vec_push(&live->exited, exited))
			return -ENOMEM;
	}
	return take_ring_record(code->taker, bytes, size_bytes);
}

/* All that is handed over passes here: copies of the shim are met by mappings. */
static int watch_mappings(void *context, const struct jitbpf_record *record)
{
	struct code_taker *watch = context;
	int err = 0;

	if (record->type == JITBPF_MAPPING)
		err = shim_copies_see(&watch->live->copies, (const struct jitbpf_mapping *)record);
	return err ?: watch->taker->take(watch->taker->context, record);
}

/*
 * A process that has exited is still taking itself apart, on a newer kernel with
 * all its memory. After a while the programs need not look out for it any more,
 * unless its pid has been given to another by then.
 */
static void untrack_exited(struct live_source *live)
{
	int fd = bpf_map__fd(live->bpf->maps.tracked);
	size_t done = 0;

	while (done < live->exited.size &&
	       live->exited.data[done].time_ns + EXITED_KEEP_NS < live->round_ns) {
		uint32_t pid = live->exited.data[done++].pid, value;

		if (!bpf_map_lookup_elem(fd, &pid, &value) && value == TRACKED_EXITED)
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
	return round_buffer_add(context, record->time_ns, record);
}

/* Pass on what concerns the profiled processes. */
static int filter_sideband(void *context, const struct jitbpf_record *record)
{
	struct sideband_filter *filter = context;
	int wanted = process_filter_take(&filter->live->tracked, record);

	if (wanted <= 0)
		return wanted;
	return filter->taker->take(filter->taker->context, record);
}

/*
 * Forks decide whom what follows concerns, so all CPUs' records are put into
 * order first; those that came while we read wait for what other CPUs have of
 * that time.
 */
static int drain_sideband(struct live_source *live, struct drain_taker *taker)
{
	struct sideband_filter filter = {.live = live, .taker = taker};
	bool all = !live->bpf->rodata->only_tracked;
	int err = 0;

	vec_for_each (event, &live->events.cpus) {
		err = sideband_drain(&live->events, event, live->files,
				     all ? taker->take : keep_sideband,
				     all ? taker->context : &live->sideband, &live->sideband_lost);
		if (err)
			return err;
	}
	return round_buffer_drain(&live->sideband, live->stopped ? UINT64_MAX : live->round_ns,
				  filter_sideband, &filter);
}

static uint64_t sum_counter(const struct live_source *live, uint32_t which)
{
	int cpus = libbpf_num_possible_cpus(), fd = bpf_map__fd(live->bpf->maps.counters);
	AUTO_FREE uint64_t *values = cpus > 0 ? calloc((size_t)cpus, sizeof(*values)) : NULL;
	uint64_t sum = 0;

	if (!values || bpf_map_lookup_elem(fd, &which, values))
		return 0;
	for (int i = 0; i < cpus; i++)
		sum += values[i];
	return sum;
}

static int send_counters(struct live_source *live, struct drain_taker *taker)
{
	struct file_store_counts files = file_store_counts(live->files);
	struct {
		struct jitbpf_counters head;
		uint64_t values[JITBPF_COUNTER_MAX];
	} out = {.head.h = {
			 .size_bytes = sizeof(out),
			 .type = JITBPF_COUNTERS,
			 .time_ns = live->round_ns,
		 }};

	for (uint32_t i = 0; i < JITBPF_COUNTER_MAX; i++)
		out.values[i] = sum_counter(live, i);
	out.values[JITBPF_COUNT_SIDEBAND_LOST] += live->sideband_lost;
	out.values[JITBPF_COUNT_FILES_UNANSWERED] += files.unanswered;
	out.values[JITBPF_COUNT_FILES_OVER_BUDGET] += files.over_budget;
	out.values[JITBPF_COUNT_MAPS_CUT] += live->maps_cut;
	out.values[JITBPF_COUNT_SHIM_COPIES] += live->copies.attached;
	out.values[JITBPF_COUNT_SHIMS_REFUSED] += live->copies.refused;
	out.values[JITBPF_COUNT_SHIMS_OVER_BUDGET] += live->copies.over_budget;
	return taker->take(taker->context, &out.head.h);
}

/* Which processes lost samples. As struct lost_key of bpf/sample.bpf.c. */
static int send_lost_samples(struct live_source *live, struct drain_taker *taker)
{
	struct {
		uint64_t start_ns;
		uint32_t pid, reserved;
	} key, *before = NULL;
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
		if (bpf_map_lookup_elem(fd, &key, &out.count))
			continue;
		out.pid = key.pid;
		out.start_ns = key.start_ns;
		err = taker->take(taker->context, &out.h);
	}
	if (!err && elsewhere) {
		out.pid = 0; /* more processes than the map holds */
		out.start_ns = 0;
		out.count = elsewhere;
		err = taker->take(taker->context, &out.h);
	}
	return err;
}

/*
 * First samples, then code: every load that a sample could have run was in the
 * code ring before it. A record there that a preempted process has reserved and
 * not yet committed hides all behind it; until it is through, the round stays
 * open, and its samples wait. Then the side-band, for the same reason.
 */
static int drain_rings(struct live_source *live, struct drain_taker *taker)
{
	struct code_taker code = {.live = live, .taker = taker};
	uint64_t began_ns = clock_now_ns();
	int err = 0;

	vec_for_each (ring, &live->sample_rings) {
		err = ring_drain(ring, take_ring_record, taker);
		if (err)
			return err;
	}
	if (!live->round_open)
		live->round_ns = began_ns;
	live->round_open = true;
	live->code_target = ring_reserved(&live->code_ring);
	err = ring_drain(&live->code_ring, take_code_record, &code);
	if (err)
		return err;
	if (ring_consumed(&live->code_ring) < live->code_target)
		return SOURCE_OPEN;
	err = drain_sideband(live, taker);
	err = err ?: live_recover(live, taker->take, taker->context);
	live->round_open = false;
	untrack_exited(live);
	return err ?: SOURCE_ROUND;
}

/*
 * The programs' own set has the children of a profiled process that were forked
 * before the scan too.
 */
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

/*
 * What was there before us: first processes and their mappings, then what their
 * journals tell, in rounds of bounded size, all as of when we came. What comes
 * meanwhile is taken out of the code ring, and waits in the round for its time.
 */
static int drain_past(struct live_source *live, struct drain_taker *taker, uint64_t *ret_time_ns)
{
	struct process_scan scan = {
		.files = live->files,
		.came_ns = live->came_ns,
		.wanted = is_profiled,
		.wanted_context = live,
		.take = taker->take,
		.take_context = taker->context,
		.ret_cut = &live->maps_cut,
		.ret_journals = &live->late.pids,
	};
	struct code_taker code = {.live = live, .taker = taker};
	int more, err;

	if (!live->scanned) {
		live->copies.unheard = SHIM_UNHEARD_NEW;
		more = process_scan(&scan) ?: 1;
		live->scanned = true;
		live->copies.unheard = SHIM_UNHEARD_ALL;
	} else {
		more = journal_late_read(&live->late, live->came_ns, taker->take, taker->context);
	}
	if (more < 0)
		return more;
	err = ring_drain(&live->code_ring, take_code_record, &code);
	live->ready = !more;
	*ret_time_ns = live->came_ns;
	return err ?: SOURCE_ROUND;
}

static int drain(void *context, record_taker_fn take, void *take_context, uint64_t *ret_time_ns)
{
	struct live_source *live = context;
	struct drain_taker outer = {.take = take, .context = take_context};
	struct code_taker watch = {.live = live, .taker = &outer};
	struct drain_taker taker = {.take = watch_mappings, .context = &watch};
	int state, err;

	if (!live->ready)
		return drain_past(live, &taker, ret_time_ns);
	state = drain_rings(live, &taker);
	if (state < 0)
		return state;
	*ret_time_ns = live->round_ns;
	if (state == SOURCE_OPEN || !live->stopped)
		return state;
	err = send_lost_samples(live, &taker);
	err = err ?: send_counters(live, &taker);
	return err ?: SOURCE_END;
}

bool live_source_ready(const struct live_source *live)
{
	return live->ready;
}

uint64_t live_source_lost(const struct live_source *live)
{
	return sum_counter(live, JITBPF_COUNT_SAMPLES_RING_FULL) +
	       sum_counter(live, JITBPF_COUNT_JIT_RING_FULL);
}

void live_source_init_source(struct live_source *live, struct source *ret)
{
	*ret = (struct source){.drain = drain, .context = live};
}
