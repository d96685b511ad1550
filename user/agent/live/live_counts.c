/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/live/live_counts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/scope.h"
#include "uapi/loss.h"

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

/* Emit the number of samples taken, by event, if there are several events. */
static int send_taken(struct live_drain *drain)
{
	const struct live_source *live = drain->live;
	struct jitbpf_event_counts out = {.h = {.size_bytes = sizeof(out),
						.type = JITBPF_EVENT_COUNTS,
						.time_ns = live->round.begin_ns}};

	for (size_t event = 1; event <= live->events.count; event++)
		out.taken[event] = live->bpf->bss->event_taken[event];
	return live->events.count ? drain->take(drain->take_context, &out.h) : 0;
}

int live_counts_send(struct live_drain *drain)
{
	struct live_source *live = drain->live;
	struct file_store_counts files = file_store_counts(live->round.files);
	struct {
		struct jitbpf_counters head;
		uint64_t values[JITBPF_COUNTER_MAX];
	} out = {.head.h = {
			 .size_bytes = sizeof(out),
			 .type = JITBPF_COUNTERS,
			 .time_ns = live->round.begin_ns,
		 }};

	for (uint32_t i = 0; i < JITBPF_COUNTER_MAX; i++) {
		live->counters_unread += read_counter(live, i) < 0;
		out.values[i] = live->counters[i];
	}
	out.values[JITBPF_COUNT_COUNTERS_UNREAD] += live->counters_unread;
	out.values[JITBPF_COUNT_SIDEBAND_LOST] += live->round.sideband_lost;
	out.values[JITBPF_COUNT_FILES_UNANSWERED] += files.unanswered;
	out.values[JITBPF_COUNT_FILES_OVER_BUDGET] += files.over_budget;
	out.values[JITBPF_COUNT_FILES_UNVERIFIED] += files.unverified;
	out.values[JITBPF_COUNT_FILES_GONE] += files.gone;
	out.values[JITBPF_COUNT_BROKER_LOST] += files.broker_lost;
	/*
	 * Count the processes that have not answered until the end of the run: their mappings were
	 * never read.
	 */
	out.values[JITBPF_COUNT_MAPS_CUT] += live->maps_cut + live->late_pids.size;
	out.values[JITBPF_COUNT_PROCESSES_UNANSWERED] +=
		process_maps_unanswered(file_store_maps(live->round.files));
	out.values[JITBPF_COUNT_PROBES_DEFERRED] +=
		live_source_deferrals(live).count - live->deferrals_sent;
	out.values[JITBPF_COUNT_LOOP_PAUSES] += live->health.pauses;
	out.values[JITBPF_COUNT_LOOP_LONGEST_MS] += live->health.longest_ns / 1000000;
	for (size_t i = 0; i < live->round.publisher_count; i++)
		live->round.publishers[i].ops->count(live->round.publishers[i].self, out.values);
	return drain->take(drain->take_context, &out.head.h) ?: send_taken(drain);
}

int live_counts_send_deferrals(struct live_drain *drain)
{
	struct live_source *live = drain->live;
	uint64_t count = live_source_deferrals(live).count;
	struct {
		struct jitbpf_counters head;
		uint64_t values[JITBPF_COUNT_PROBES_DEFERRED + 1];
	} out = {.head.h = {
			 .size_bytes = sizeof(out),
			 .type = JITBPF_COUNTERS,
			 .time_ns = live->round.begin_ns,
		 }};

	if (count == live->deferrals_sent)
		return 0;
	out.values[JITBPF_COUNT_PROBES_DEFERRED] = count - live->deferrals_sent;
	live->deferrals_sent = count;
	return drain->take(drain->take_context, &out.head.h);
}

static bool has_ended(uint32_t pid)
{
	return kill((pid_t)pid, 0) && errno == ESRCH;
}

/*
 * Emit the number of lost samples of one process. remove: delete the entry, since the process has
 * ended.
 */
static int send_lost_of(struct live_drain *drain, const struct jitbpf_lost_key *key, bool remove)
{
	struct live_source *live = drain->live;
	int fd = bpf_map__fd(live->bpf->maps.lost_samples);
	struct jitbpf_lost_samples out = {
		.h = {.size_bytes = sizeof(out),
		      .type = JITBPF_LOST_SAMPLES,
		      .time_ns = live->round.begin_ns},
		.pid = key->pid,
		.event = (uint16_t)key->event,
		.start_ns = key->start_ns,
	};

	if (bpf_map_lookup_elem(fd, key, &out.count)) {
		live->counters_unread += !remove;
		return 0;
	}
	if (remove && bpf_map_delete_elem(fd, key))
		return 0; /* the map was busy: try again in the next step */
	return drain->take(drain->take_context, &out.h);
}

/* Emit the number of lost samples of processes for which the map had no room. */
static int send_lost_elsewhere(struct live_drain *drain)
{
	struct live_source *live = drain->live;
	int err = 0;

	for (uint16_t event = 0; event < JITBPF_EVENTS_MAX && !err; event++) {
		struct jitbpf_lost_samples out = {
			.h = {.size_bytes = sizeof(out),
			      .type = JITBPF_LOST_SAMPLES,
			      .time_ns = live->round.begin_ns},
			.event = event,
			.count = live->bpf->bss->lost_elsewhere[event],
		};

		if (out.count)
			err = drain->take(drain->take_context, &out.h);
	}
	return err;
}

int live_counts_send_lost(struct live_drain *drain, bool all)
{
	struct live_source *live = drain->live;
	int fd = bpf_map__fd(live->bpf->maps.lost_samples), err = 0;
	uint32_t left = bpf_map__max_entries(live->bpf->maps.lost_samples);
	struct jitbpf_lost_key key, next;
	int listed = bpf_map_get_next_key(fd, NULL, &key);

	for (; !listed && left && !err; left--, key = next) {
		listed = bpf_map_get_next_key(fd, &key, &next);
		if (all || has_ended(key.pid))
			err = send_lost_of(drain, &key, !all);
	}
	if (listed && listed != -ENOENT)
		live->counters_unread++; /* listing the keys failed before the end */
	if (err || !all)
		return err;
	return send_lost_elsewhere(drain);
}

uint64_t live_source_lost(struct live_source *live)
{
	read_counter(live, JITBPF_COUNT_SAMPLES_RING_FULL);
	read_counter(live, JITBPF_COUNT_JIT_RING_FULL);
	return live->counters[JITBPF_COUNT_SAMPLES_RING_FULL] +
	       live->counters[JITBPF_COUNT_JIT_RING_FULL];
}
