/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/scope.h"
#include "pipeline/analysis/analysis_state.h"
#include "uapi/recording.h"

static void kernel_code_free(struct space_value *value)
{
	free(value);
}

int analysis_take_kernel_symbol(struct analysis *a, const struct jitbpf_kernel_symbol *symbol)
{
	size_t name_bytes = strlen(symbol->name) + 1;
	struct kernel_code *code;
	struct space_entry entry;
	int err;

	if (symbol->h.flags & JITBPF_KERNEL_SYMBOL_GONE) {
		if (!space_map_find(a->kernel_code, symbol->address, symbol->h.time_ns, &entry) ||
		    entry.start != symbol->address)
			return 0; /* from before the run: the kernel knows it */
		err = space_map_end(a->kernel_code, entry.start, entry.value, symbol->h.time_ns);
		return err < 0 ? err : 0;
	}
	if (!symbol->size_bytes)
		return 0; /* an interpreted BPF program */
	if (symbol->address + symbol->size_bytes < symbol->address) {
		a->epoch->ledger.malformed_records++;
		return 0;
	}
	code = malloc(sizeof(*code) + name_bytes);
	if (!code)
		return -ENOMEM;
	*code = (struct kernel_code){
		.value = {.refs = 1, .free = kernel_code_free},
		.number = a->kernel_code_count++,
		.address = symbol->address,
	};
	memcpy(code->name, symbol->name, name_bytes);
	err = space_map_insert(a->kernel_code, symbol->address,
			       symbol->address + symbol->size_bytes, symbol->h.time_ns,
			       &code->value);
	space_value_put(&code->value);
	return err;
}

/*
 * The previous epoch has counted a throttling up to its end, but the throttling had ended before.
 */
static void end_before(struct ledger *ledger, uint64_t before_ns)
{
	ledger->throttled_ns -= before_ns < ledger->throttled_ns ? before_ns : ledger->throttled_ns;
}

int analysis_take_throttle(struct analysis *a, const struct jitbpf_throttle *throttle)
{
	bool counted = throttle->h.flags & JITBPF_RECORD_COUNTED;
	uint64_t time_ns = throttle->h.time_ns, *since;

	/* An earlier epoch counts the time up to the start of this one. */
	if (counted && time_ns < a->epoch->info.start_ns)
		time_ns = a->epoch->info.start_ns;

	if (throttle->cpu >= 65536) {
		a->epoch->ledger.malformed_records++;
		return 0;
	}
	while (a->throttled_since.size <= throttle->cpu) {
		int err = vec_push(&a->throttled_since, (uint64_t)0);

		if (err)
			return err;
	}
	since = &a->throttled_since.data[throttle->cpu];
	if (!(throttle->h.flags & JITBPF_THROTTLE_END)) {
		a->epoch->ledger.throttles += !counted;
		if (!*since) /* else the previous END was lost: the earlier start stays */
			*since = time_ns;
	} else if (*since) {
		if (time_ns > *since)
			a->epoch->ledger.throttled_ns += time_ns - *since;
		else if (a->closing && *since == a->epoch->info.start_ns)
			end_before(&a->closing->ledger, *since - time_ns);
		*since = 0;
	}
	return 0;
}

/*
 * Find the row of a process, and its name. Losses are reported at the end, when the process may
 * have been freed; then only its row is left, if it has one in this epoch.
 */
static int row_of_lost(struct analysis *a, const struct jitbpf_lost_samples *lost,
		       struct ledger_process **ret)
{
	struct process *process =
		process_table_find(&a->processes, lost->pid, lost->start_ns, lost->h.time_ns);
	int err = 0;

	for (size_t i = a->epoch->ledger.processes.size; i-- && !process;) {
		struct ledger_process *row = &a->epoch->ledger.processes.data[i];

		if (row->pid == lost->pid && row->start_ns == lost->start_ns) {
			*ret = row;
			return 0;
		}
	}
	if (!process)
		err = process_table_at(&a->processes, lost->pid, lost->start_ns, lost->h.time_ns,
				       &process);
	if (err)
		return err;
	*ret = analysis_ledger_row(a, process);
	return *ret ? 0 : -ENOMEM;
}

/* Count lost samples of an event from 1 on. */
static int count_lost(struct epoch *e, const struct jitbpf_lost_samples *lost,
		      const struct ledger_process *row)
{
	uint32_t number = (uint32_t)(row - e->ledger.processes.data);
	struct event_fates *fates;
	int err = event_counts_row(e, lost->event, number, &fates);

	if (err)
		return err;
	fates->samples.fate[FATE_LOST] += lost->count;
	e->events[lost->event].fates.all.samples.fate[FATE_LOST] += lost->count;
	return 0;
}

int analysis_take_lost(struct analysis *a, const struct jitbpf_lost_samples *lost)
{
	const struct process *process;
	struct ledger_process *row;
	int err;

	if (lost->event > a->epoch->info.more_events || lost->event >= JITBPF_EVENTS_MAX) {
		a->epoch->ledger.malformed_records++;
		return 0;
	}
	err = row_of_lost(a, lost, &row);
	if (err)
		return err;
	process = process_table_find(&a->processes, lost->pid, lost->start_ns, lost->h.time_ns);
	if (!sample_filter_passes_lost(
		    &a->filter, lost->pid, string_pool_get(a->epoch->strings, row->comm),
		    process ? analysis_cgroup_at(a, process, lost->h.time_ns) : NULL))
		return 0;
	if (lost->event)
		return count_lost(a->epoch, lost, row);
	row->samples.fate[FATE_LOST] += lost->count;
	ledger_touch(&a->epoch->ledger, row, a->epoch->round);
	a->epoch->ledger.samples.fate[FATE_LOST] += lost->count;
	return 0;
}

void analysis_take_counters(struct analysis *a, const struct jitbpf_counters *counters)
{
	size_t count = (counters->h.size_bytes - sizeof(*counters)) / sizeof(uint64_t);

	for (size_t i = 0; i < count && i < JITBPF_COUNTER_MAX; i++)
		a->epoch->ledger.counters[i] += counters->values[i];
}

void analysis_take_event_counts(struct analysis *a, const struct jitbpf_event_counts *counts)
{
	for (size_t i = 1; i < JITBPF_EVENTS_MAX; i++)
		a->epoch->events[i].taken += counts->taken[i];
}

static bool read_number(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

/* Read the events behind the texts of an INFO chunk. Returns false if they are not well-formed. */
static bool read_events(struct cursor *text, struct run_info *info)
{
	const char *period;

	while (cursor_left(text)) {
		struct run_event event;

		if (info->more_events == ARRAY_SIZE(info->events) ||
		    cursor_string(text, &event.name) || cursor_string(text, &event.unit) ||
		    cursor_string(text, &period) || !read_number(period, &event.period))
			return false;
		info->events[info->more_events++] = event;
	}
	return true;
}

int analysis_take_info(struct analysis *a, const struct jitbpf_info_chunk *chunk)
{
	const char *strings[4] = {"", "", "", ""};
	struct cursor text = cursor_of(
		chunk->text, chunk->h.size_bytes - offsetof(struct jitbpf_info_chunk, text));
	struct run_info info;

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++) {
		if (cursor_string(&text, &strings[i]))
			break;
	}
	info = (struct run_info){
		.start_ns = chunk->h.time_ns,
		.wall_clock_ns = chunk->wall_clock_ns,
		.freq_hz = chunk->freq_hz,
		.cpus = chunk->cpus,
		.event = strings[0],
		.command = strings[1],
		.host = strings[2],
		.kernel = strings[3],
	};
	/* The samples of events that are not described are refused one by one. */
	a->epoch->ledger.malformed_records += !read_events(&text, &info);
	return analysis_set_info(a, &info);
}
