/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/live/live_round.h"

#include <errno.h>
#include <string.h>

#include "agent/clock.h"
#include "agent/kernel/proc/mapping_record.h"
#include "agent/kernel/events/sideband.h"

/* One call of live_round_drain() or live_round_drain_code(). */
struct drain {
	struct live_round *round;
	record_taker_fn take;
	void *take_context;
};

/* All records of a round pass here. */
static int take_counted(void *context, const struct jitbpf_record *record)
{
	const struct drain *drain = context;

	drain->round->taken_bytes += record->size_bytes;
	return drain->take(drain->take_context, record);
}

int live_round_emit(struct live_round *round, const struct jitbpf_record *record,
		    record_taker_fn take, void *take_context)
{
	for (size_t i = 0; i < round->publisher_count; i++) {
		const struct publisher *publisher = &round->publishers[i];
		int verdict = publisher->ops->see(publisher->self, record);

		if (verdict != PUBLISHER_KEEP)
			return verdict == PUBLISHER_DROP ? 0 : verdict;
	}
	return take(take_context, record);
}

static int emit(void *context, const struct jitbpf_record *record)
{
	const struct drain *drain = context;

	return live_round_emit(drain->round, record, take_counted, context);
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
	struct live_round *round = drain->round;
	const struct jitbpf_sample *sample = slot;
	int err = slot_bytes < sizeof(*sample) ? -EIO : check_slot(slot, slot_bytes);

	if (!err && sample->h.type == JITBPF_BUILD_ID) {
		gone_files_report(&round->gone, slot);
		return 0;
	}
	err = err ?: reused_callers_complete(&round->callers, sample, &sample);
	if (!err)
		file_store_sampled(round->files, sample->pid);
	for (size_t i = 0; i < round->publisher_count && !err; i++) {
		const struct publisher *publisher = &round->publishers[i];

		if (publisher->ops->sampled)
			err = publisher->ops->sampled(publisher->self, sample->pid);
	}
	return err ?: take_counted(context, &sample->h);
}

/* A record of the code ring: JIT records, copied code, owners, exits. */
static int take_code_record(void *context, const void *slot, size_t slot_bytes)
{
	const struct drain *drain = context;
	struct live_round *round = drain->round;
	const struct jitbpf_task *exit = slot;
	int err = check_slot(slot, slot_bytes);

	if (!err && exit->h.type == JITBPF_EXIT)
		gone_files_exit(&round->gone, exit->pid);
	if (!err && exit->h.type == JITBPF_EXIT && round->only_tracked)
		err = vec_push(&round->exited,
			       ((struct exited_process){exit->pid, exit->h.time_ns}));
	err = err ?: process_owners_take(&round->owners, slot);
	if (!err && exit->h.type == JITBPF_OWNER)
		err = told_cgroups_see(&round->cgroups, slot, take_counted, context);
	return err ?: emit(context, slot);
}

static void add_gone(struct live_round *round, uint32_t pid)
{
	struct process_owner owner = process_owners_find(&round->owners, pid);

	gone_files_add(&round->gone, pid, process_owner_key(&owner));
}

static int note_mapping(void *context, const struct jitbpf_record *record)
{
	const struct drain *drain = context;

	if (record->type == JITBPF_MAPPING)
		gone_files_note(&drain->round->gone, (const struct jitbpf_mapping *)record);
	return 0;
}

/* Note the mappings of all CPUs, before the first one is identified. */
static int note_mappings(struct drain *drain)
{
	struct live_round *round = drain->round;
	uint64_t lost = 0;
	int err = 0;

	if (!gone_files_any(&round->gone))
		return 0;
	vec_for_each (event, &round->events.cpus)
		err = err ?: sideband_peek(&round->events, event, note_mapping, drain, &lost);
	if (lost)
		gone_files_lose(&round->gone);
	return err;
}

/* Emit a record of a profiled process. */
static int emit_sideband(void *context, const struct jitbpf_record *record)
{
	const struct drain *drain = context;
	const struct jitbpf_task *task = (const struct jitbpf_task *)record;
	struct mapping_record mapping;

	if (record->type == JITBPF_FORK && task->pid != task->parent_pid)
		file_store_begun(drain->round->files, task->pid);
	if (record->type != JITBPF_MAPPING)
		return emit(context, record);
	memcpy(&mapping, record, record->size_bytes);
	gone_files_find(&drain->round->gone, &mapping.record);
	if (mapping_record_identify(&mapping.record, drain->round->files))
		add_gone(drain->round, mapping.record.pid);
	return emit(context, &mapping.record.h);
}

static int keep_sideband(void *context, const struct jitbpf_record *record)
{
	const struct drain *drain = context;

	return round_buffer_add(&drain->round->sideband, record->time_ns, record);
}

/* Emit the record if it is about a profiled process. */
static int filter_sideband(void *context, const struct jitbpf_record *record)
{
	const struct drain *drain = context;
	int wanted = process_filter_take(&drain->round->tracked, record);

	return wanted <= 0 ? wanted : emit_sideband(context, record);
}

/*
 * With only_tracked, forks determine which later records are wanted, so the records of all CPUs are
 * sorted by time first. Records from after the start of the drain wait for the next drain, which
 * reads the other CPUs' records of that time.
 */
static int drain_sideband(struct drain *drain, bool last)
{
	struct live_round *round = drain->round;
	int err = note_mappings(drain);

	if (err)
		return err;
	vec_for_each (event, &round->events.cpus) {
		err = sideband_drain(&round->events, event,
				     round->only_tracked ? keep_sideband : emit_sideband, drain,
				     &round->sideband_lost);

		if (err)
			return err;
	}
	return round_buffer_drain(&round->sideband, last ? UINT64_MAX : round->begin_ns,
				  filter_sideband, drain);
}

/* Returns 0 if all publishers are done, 1 if the round stays open, or a negative errno. */
static int end_publishers_round(struct drain *drain)
{
	struct live_round *round = drain->round;
	int open = 0;

	for (size_t i = 0; i < round->publisher_count; i++) {
		struct publisher *publisher = &round->publishers[i];
		int more = publisher->done
				   ? 0
				   : publisher->ops->round(publisher->self, round->begin_ns,
							   round->taken_bytes > LIVE_ROUND_BYTES,
							   take_counted, drain);

		if (more < 0)
			return more;
		publisher->done = !more;
		open |= more;
	}
	for (size_t i = 0; i < round->publisher_count && !open; i++)
		round->publishers[i].done = false;
	return open;
}

int live_round_drain_code(struct live_round *round, record_taker_fn take, void *take_context)
{
	struct drain drain = {round, take, take_context};

	if (round->taken_bytes > LIVE_ROUND_BYTES)
		return 0;
	return ring_drain(&round->code_ring, take_code_record, &drain);
}

/*
 * Samples come first, then code: any load that a sample may have run was in the code ring, or with
 * its publisher, before the sample. The side-band comes after the code for the same reason; the
 * publishers come last, since they see the mappings in it.
 *
 * A preempted process may have reserved a code record without committing it, which blocks the
 * records behind it. Then the round stays open, and its samples wait. The same happens if a
 * publisher could not read the code of a process in time.
 */
int live_round_drain(struct live_round *round, bool last, record_taker_fn take, void *take_context)
{
	struct drain drain = {round, take, take_context};
	uint64_t now_ns = clock_now_ns();
	int err;

	vec_for_each (ring, &round->sample_rings) {
		err = ring_drain(ring, take_sample, &drain);
		if (err)
			return err;
	}
	if (!round->open) {
		round->begin_ns = now_ns;
		round->taken_bytes = 0;
	}
	round->open = true;
	round->code_target = ring_reserved(&round->code_ring);
	err = ring_drain(&round->code_ring, take_code_record, &drain);
	if (err)
		return err;
	if (ring_consumed(&round->code_ring) < round->code_target)
		return SOURCE_OPEN;
	err = drain_sideband(&drain, last);
	if (!err)
		err = end_publishers_round(&drain);
	if (err > 0)
		return SOURCE_OPEN;
	process_owners_end_round(&round->owners);
	gone_files_end_round(&round->gone, round->begin_ns);
	round->open = false;
	err = err ?: told_cgroups_round(&round->cgroups, round->begin_ns, take_counted, &drain);
	return err ?: SOURCE_ROUND;
}

void live_round_deinit(struct live_round *round)
{
	reused_callers_deinit(&round->callers);
	process_owners_deinit(&round->owners);
	told_cgroups_deinit(&round->cgroups);
	gone_files_deinit(&round->gone);
	process_filter_deinit(&round->tracked);
	round_buffer_deinit(&round->sideband);
	vec_deinit(&round->exited);
}
