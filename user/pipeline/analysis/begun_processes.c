/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/begun_processes.h"

#include <errno.h>
#include <linux/mman.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "pipeline/analysis/jit_totals.h"
#include "pipeline/analysis/snapshot.h"

static struct epoch_begun *begun_of(const struct epoch *e, const struct process *process)
{
	struct epoch_begun *begun;

	if (process->slot >= e->begun.size)
		return NULL;
	begun = &e->begun.data[process->slot];
	return begun->process == process->number + 1 ? begun : NULL;
}

bool epoch_has_begun(const struct epoch *e, const struct process *process)
{
	const struct epoch_begun *begun = begun_of(e, process);

	return begun && begun->open;
}

bool analysis_has_begun(const struct analysis *a, const struct process *process)
{
	return !a->only_sampled || epoch_has_begun(a->epoch, process);
}

static int open_in(struct epoch *e, const struct process *process)
{
	while (e->begun.size <= process->slot) {
		if (vec_push(&e->begun, (struct epoch_begun){0}))
			return -ENOMEM;
	}
	e->begun.data[process->slot] =
		(struct epoch_begun){.process = process->number + 1, .open = true};
	return 0;
}

/* --- counts ------------------------------------------------------------------------ */

struct jit_counts *analysis_jit_counts(struct analysis *a, const struct process *process)
{
	struct jit_counts **counts;

	if (analysis_has_begun(a, process)) {
		struct ledger_process *row = analysis_ledger_row(a, process);

		return row ? &row->jit : NULL;
	}
	while (a->unsampled.size <= process->slot) {
		if (vec_push(&a->unsampled, (struct jit_counts *)NULL))
			return NULL;
	}
	counts = &a->unsampled.data[process->slot];
	if (!*counts)
		*counts = calloc(1, sizeof(**counts));
	return *counts;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Add code from earlier epochs to the counts, as a run without only_sampled does. */
static void count_existing(struct jit_counts *counts, const struct jit_counts *existing)
{
	if (existing->methods > counts->methods)
		counts->late += existing->methods - counts->methods;
	counts->methods = larger(counts->methods, existing->methods);
	counts->code_bytes = larger(counts->code_bytes, existing->code_bytes);
	counts->merged = larger(counts->merged, existing->merged);
	for (size_t i = 0; i < JITBPF_PUBLISHER_COUNT; i++)
		counts->published[i] = larger(counts->published[i], existing->published[i]);
}

/* Passes the records of a snapshot on, and counts the code in them. */
struct counting {
	struct record_receiver to;
	struct jit_counts existing;
	uint64_t address; /* of the last load */
};

static int count_and_pass(void *counting_, const struct jitbpf_record *record)
{
	const struct jitbpf_code_event *event = (const struct jitbpf_code_event *)record;
	struct counting *counting = counting_;

	if (record->type == JITBPF_CODE_EVENT && event->kind == JITBPF_CODE_LOAD &&
	    event->address && event->publisher < JITBPF_PUBLISHER_COUNT) {
		bool merged = event->address == counting->address; /* of another publisher */

		counting->existing.methods += !merged;
		counting->existing.merged += merged;
		counting->existing.code_bytes += merged ? 0 : event->code_bytes;
		counting->existing.published[event->publisher]++;
		counting->address = event->address;
	}
	return counting->to.take(counting->to.context, record);
}

/* Move the counts so far to the row of the process, and record them. */
static int begin_counts(struct analysis *a, const struct process *process, uint64_t time_ns,
			const struct jit_counts *existing, struct record_receiver to)
{
	AUTO_FREE struct jit_counts *before = process->slot < a->unsampled.size
						      ? TAKE_PTR(a->unsampled.data[process->slot])
						      : NULL;
	struct jit_counts none = {0}, *counts;
	struct jit_totals totals;
	uint32_t row;

	if (!before && !existing->methods && !epoch_has_row(a->epoch, process, &row))
		return 0;
	counts = analysis_jit_counts(a, process);
	if (!counts)
		return -ENOMEM;
	analysis_count_code(before ?: &none, process->account);
	jit_counts_add(counts, before ?: &none);
	count_existing(counts, existing);
	if (!to.take)
		return 0;
	if (epoch_is_shared(a->epoch, process)) /* the row counts others, too */
		counts = before ?: &none;
	jit_totals_make(process, time_ns, counts, &totals);
	return to.take(to.context, &totals.head.h);
}

/* --- the begin of a process -------------------------------------------------------- */

/* Do not count events that were missing while the process had not begun. */
static void skip_gaps(struct analysis *a, const struct process *process,
		      const struct epoch_begun *begun)
{
	struct event_sequences *sequences;
	uint64_t missing, before;

	if (process->slot >= a->sequences.size)
		return;
	sequences = &a->sequences.data[process->slot];
	missing = event_sequences_missing(sequences);
	before = begun ? begun->missing : sequences->gaps_before;
	if (missing > before)
		sequences->gaps_before += missing - before;
}

static int begin(struct analysis *a, const struct process *process, uint64_t time_ns,
		 struct record_receiver to)
{
	const struct epoch_begun *begun = begun_of(a->epoch, process);
	struct counting counting = {.to = to};
	int err;

	if (begun && begun->open)
		return 0;
	skip_gaps(a, process, begun);
	err = open_in(a->epoch, process);
	if (!err && to.take)
		err = analysis_record_cgroup(a, a->epoch->number, process->owner.cgroup, time_ns,
					     to);
	if (!err && to.take)
		err = analysis_snapshot_process(
			a, process, time_ns, begun != NULL,
			(struct record_receiver){count_and_pass, &counting});
	err = err ?: begin_counts(a, process, time_ns, &counting.existing, to);
	return err
		       ?: analysis_note_live(
				  a, process, time_ns,
				  (struct code_lane_change){.bytes = process->account->live_bytes});
}

/* --- processes that share code ----------------------------------------------------- */

struct sharing {
	uint32_t epoch; /* number, plus 1 */
	bool more;	/* an object that other processes may map was newly marked */
};

static int mark_object(void *sharing_, const struct space_entry *entry)
{
	struct shared_code *shared = ((const struct mapping *)entry->value)->shared;
	struct sharing *sharing = sharing_;

	if (!shared || shared->begun_in == sharing->epoch)
		return 0;
	shared->begun_in = sharing->epoch;
	sharing->more |= shared->value.refs > 1;
	return 0;
}

static int find_marked(void *sharing_, const struct space_entry *entry)
{
	const struct shared_code *shared = ((const struct mapping *)entry->value)->shared;
	const struct sharing *sharing = sharing_;

	return shared && shared->begun_in == sharing->epoch;
}

static struct sharing sharing_now(const struct analysis *a)
{
	return (struct sharing){.epoch = a->epoch->number + 1};
}

static bool shares_marked(const struct analysis *a, const struct process *process)
{
	struct sharing sharing = sharing_now(a);

	return process->mappings && space_map_for_each(process->mappings, find_marked, &sharing);
}

static int search_sharers(struct analysis *a, uint64_t time_ns, struct record_receiver to)
{
	int err = 0;

	a->sharers_due = false;
	vec_for_each (process, &a->processes.active) {
		if (!err && !epoch_has_begun(a->epoch, *process) && shares_marked(a, *process))
			err = begin(a, *process, time_ns, to);
	}
	return err;
}

int analysis_begin_sharers(struct analysis *a, uint64_t time_ns, struct record_receiver to)
{
	a->sharers_searched = false;
	return a->sharers_due ? search_sharers(a, time_ns, to) : 0;
}

/*
 * Mark the objects of a process that begins. If others may map them, all mappings are searched: at
 * most once during a round, and once at its end. So processes cannot make it more expensive.
 */
static int mark_objects(struct analysis *a, const struct process *process, uint64_t time_ns,
			struct record_receiver to)
{
	struct sharing sharing = sharing_now(a);

	if (process->mappings)
		space_map_for_each(process->mappings, mark_object, &sharing);
	a->sharers_due |= sharing.more;
	if (!a->sharers_due || a->sharers_searched)
		return 0;
	a->sharers_searched = true;
	return search_sharers(a, time_ns, to);
}

int analysis_begin_process(struct analysis *a, uint32_t pid, uint64_t start_ns, uint64_t time_ns,
			   struct record_receiver to)
{
	struct process *process;
	int err = process_table_at(&a->processes, pid, start_ns, time_ns, &process);

	if (err || epoch_has_begun(a->epoch, process))
		return err;
	err = begin(a, process, time_ns, to);
	return err ?: mark_objects(a, process, time_ns, to);
}

int analysis_begin_sharer(struct analysis *a, const struct jitbpf_mapping *record,
			  struct record_receiver to)
{
	const struct process *process =
		process_table_find(&a->processes, record->pid, record->start_ns, record->h.time_ns);
	struct sharing sharing = sharing_now(a);
	struct space_entry entry;

	if (!(record->map_flags & MAP_SHARED) || !process || !process->mappings ||
	    !space_map_find(process->mappings, record->address, record->h.time_ns, &entry))
		return 0;
	if (!epoch_has_begun(a->epoch, process))
		return find_marked(&sharing, &entry) ? begin(a, process, record->h.time_ns, to) : 0;
	mark_object(&sharing, &entry);
	a->sharers_due |= sharing.more;
	return 0;
}

/* --- forks and execs --------------------------------------------------------------- */

static bool has_record(const struct epoch *e, uint64_t time_ns)
{
	return time_ns <= e->until_ns;
}

int analysis_take_fork(struct analysis *a, const struct jitbpf_task *record)
{
	const struct process *parent = NULL, *child;
	int err;

	if (a->only_sampled && record->pid != record->parent_pid)
		parent =
			process_table_find(&a->processes, record->parent_pid, 0, record->h.time_ns);
	err = process_table_fork(&a->processes, record);
	if (err || !parent)
		return err;
	child = process_table_find(&a->processes, record->pid, 0, record->h.time_ns);
	for (struct epoch *e = a->epoch; child && e && !err;
	     e = e == a->epoch ? a->closing : e->older) {
		if (has_record(e, record->h.time_ns) && epoch_has_begun(e, parent) &&
		    !begun_of(e, child))
			err = open_in(e, child);
	}
	return err;
}

int analysis_note_exec(struct analysis *a, const struct jitbpf_comm *record)
{
	const struct process *process;

	if (!a->only_sampled || !comm_is_exec(&record->h))
		return 0;
	process =
		process_table_find(&a->processes, record->pid, record->start_ns, record->h.time_ns);
	for (struct epoch *e = a->epoch; process && e; e = e == a->epoch ? a->closing : e->older) {
		struct epoch_begun *begun = begun_of(e, process);

		if (!begun || !begun->open || !has_record(e, record->h.time_ns))
			continue;
		begun->open = false;
		if (process->slot < a->sequences.size)
			begun->missing = event_sequences_missing(&a->sequences.data[process->slot]);
	}
	return 0;
}
