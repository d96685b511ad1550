/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "pipeline/analysis/analysis_state.h"
#include "uapi/recording.h"

/* Dropping old history visits all processes, and rounds can be shorter. */
#define FORGET_STEP_NS 50000000ull

DEFINE_CLEANUP(struct analysis *, analysis_destroy);

int analysis_create(const struct analysis_options *options, struct analysis **ret)
{
	CLEANUP(analysis_destroyp) struct analysis *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	if (options->symbols) {
		a->symbols = *options->symbols;
		a->has_symbols = true;
	}
	if (options->filter) {
		a->filter = *options->filter;
		a->ledger.filtered = sample_filter_is_set(options->filter);
	}
	a->stack_cache = calloc(STACK_CACHE_SLOTS, sizeof(*a->stack_cache));
	if (!a->stack_cache)
		return -ENOMEM;
	err = string_pool_create(&a->strings);
	err = err ?: space_map_create(SPACE_END_WHOLE, &a->kernel_code);
	err = err ?: frame_table_create(a->strings, &a->frames);
	err = err ?: recorded_frames_create(a->strings, &a->recorded);
	if (err)
		return err;
	process_table_init(&a->processes, a->strings, &a->modules,
			   options->budget ?: &code_budget_default, options->line_rules);
	a->info = (struct run_info){.event = "", .command = "", .host = "", .kernel = ""};
	a->view = (struct view){
		.info = &a->info,
		.strings = a->strings,
		.modules = &a->modules,
		.locations = &a->locations,
		.frames = a->frames,
		.profile = &a->profile,
		.ledger = &a->ledger,
	};
	if (options->view)
		a->view.options = *options->view;
	if (a->view.options.by == VIEW_BY_TID)
		a->view.threads = &a->threads;
	*ret = TAKE_PTR(a);
	return 0;
}

void analysis_destroy(struct analysis *a)
{
	if (!a)
		return;
	vec_for_each (sink, &a->sinks)
		sink->ops->destroy(sink->sink);
	vec_deinit(&a->sinks);
	vec_for_each (sequences, &a->sequences)
		jit_sequences_deinit(sequences);
	vec_deinit(&a->sequences);
	vec_deinit(&a->throttled_since);
	vec_deinit(&a->ledger.processes);
	free(a->stack_cache);
	profile_deinit(&a->profile);
	thread_counts_deinit(&a->threads);
	location_table_deinit(&a->locations);
	recorded_frames_destroy(a->recorded);
	frame_table_destroy(a->frames);
	process_table_deinit(&a->processes);
	space_map_destroy(a->kernel_code);
	module_table_deinit(&a->modules);
	string_pool_destroy(a->strings);
	free(a);
}

/* Copy a string into the pool, which lives as long as the analysis. */
static int keep(struct analysis *a, const char *s, const char **ret)
{
	uint32_t number;
	int err = string_pool_add(a->strings, s, strlen(s), &number);

	if (!err)
		*ret = string_pool_get(a->strings, number);
	return err;
}

int analysis_set_info(struct analysis *a, const struct run_info *info)
{
	struct run_info copy = *info;
	int err;

	err = keep(a, info->event, &copy.event);
	err = err ?: keep(a, info->command, &copy.command);
	err = err ?: keep(a, info->host, &copy.host);
	err = err ?: keep(a, info->kernel, &copy.kernel);
	if (!err)
		a->info = copy;
	return err;
}

int analysis_add_sink(struct analysis *a, const struct sink_ops *ops, FILE *out)
{
	struct analysis_sink added = {.ops = ops, .out = out};
	int err = vec_reserve(&a->sinks, a->sinks.size + 1);

	err = err ?: ops->create(out, &added.sink);
	return err ?: vec_push(&a->sinks, added);
}

struct ledger_process *analysis_ledger_row(struct analysis *a, const struct process *process)
{
	struct ledger_process *row;

	while (a->ledger.processes.size <= process->number) {
		if (vec_push(&a->ledger.processes, (struct ledger_process){0}))
			return NULL;
	}
	row = &a->ledger.processes.data[process->number];
	row->pid = process->pid;
	row->comm = process->comm;
	return row;
}

static int take_frames(struct analysis *a, const struct jitbpf_frames_chunk *chunk)
{
	int err;

	a->has_recorded = true;
	err = recorded_frames_add(a->recorded, chunk);
	if (err == -EBADMSG)
		a->ledger.malformed_records++;
	return err == -EBADMSG ? 0 : err;
}

int analysis_take(struct analysis *a, const struct jitbpf_record *record)
{
	if (record->type < JITBPF_CHUNK_INFO && record->type != JITBPF_SAMPLE &&
	    record->time_ns > a->changed_ns)
		a->changed_ns = record->time_ns;
	switch (record->type) {
	case JITBPF_SAMPLE:
		return analysis_take_sample(a, (const struct jitbpf_sample *)record);
	case JITBPF_JIT:
		return analysis_take_jit(a, (const struct jitbpf_jit *)record);
	case JITBPF_JOURNAL:
		return analysis_take_journal(a, (const struct jitbpf_journal *)record);
	case JITBPF_MAPPING:
		return process_table_map(&a->processes, (const struct jitbpf_mapping *)record);
	case JITBPF_COMM:
		return process_table_comm(&a->processes, (const struct jitbpf_comm *)record);
	case JITBPF_FORK:
		return process_table_fork(&a->processes, (const struct jitbpf_task *)record);
	case JITBPF_EXIT:
		return process_table_exit(&a->processes, (const struct jitbpf_task *)record);
	case JITBPF_INNER_PID:
		return process_table_inner_pid(&a->processes,
					       (const struct jitbpf_inner_pid *)record);
	case JITBPF_KERNEL_SYMBOL:
		return analysis_take_kernel_symbol(a, (const struct jitbpf_kernel_symbol *)record);
	case JITBPF_THROTTLE:
		return analysis_take_throttle(a, (const struct jitbpf_throttle *)record);
	case JITBPF_LOST_SAMPLES:
		return analysis_take_lost(a, (const struct jitbpf_lost_samples *)record);
	case JITBPF_COUNTERS:
		analysis_take_counters(a, (const struct jitbpf_counters *)record);
		return 0;
	case JITBPF_CHUNK_INFO:
		return analysis_take_info(a, (const struct jitbpf_info_chunk *)record);
	case JITBPF_CHUNK_FRAMES:
		return take_frames(a, (const struct jitbpf_frames_chunk *)record);
	default:
		return 0;
	}
}

int analysis_end_round(struct analysis *a, uint64_t time_ns)
{
	uint64_t before_ns = a->info.start_ns + a->info.duration_ns;

	if (time_ns > a->info.start_ns)
		a->info.duration_ns = time_ns - a->info.start_ns;
	/*
	 * History counts from the round before: a round can be longer than history is kept, and
	 * samples deferred in it come with the next one.
	 */
	if (before_ns > ANALYSIS_HISTORY_NS && before_ns >= a->forget_ns) {
		a->forget_ns = before_ns + FORGET_STEP_NS;
		process_table_forget(&a->processes, before_ns - ANALYSIS_HISTORY_NS);
		space_map_forget(a->kernel_code, before_ns - ANALYSIS_HISTORY_NS);
	}
	return analysis_request_names(a);
}

void analysis_count_malformed(struct analysis *a, uint64_t count)
{
	a->ledger.malformed_records += count;
}

static void add_jit_counts(struct jit_counts *all, const struct jit_counts *one)
{
	_Static_assert(sizeof(*one) % sizeof(uint64_t) == 0, "nothing but counts");

	for (size_t i = 0; i < sizeof(*one) / sizeof(uint64_t); i++)
		((uint64_t *)all)[i] += ((const uint64_t *)one)[i];
}

/* Fold what is known only at the end into the ledger. */
static void complete_ledger(struct analysis *a)
{
	uint64_t end_ns = a->info.start_ns + a->info.duration_ns;

	vec_for_each (since, &a->throttled_since) {
		if (*since && *since < end_ns)
			a->ledger.throttled_ns += end_ns - *since;
		*since = 0;
	}
	a->ledger.counters[JITBPF_COUNT_MAPPINGS_OVER_BUDGET] = a->modules.over_budget;
	for (uint32_t i = 0; i < a->ledger.processes.size; i++) {
		struct ledger_process *row = &a->ledger.processes.data[i];
		struct process *process = a->processes.processes.data[i];
		struct jit_counts *jit = &row->jit, *all = &a->ledger.jit;

		jit_assembly_flush(&process->jit_assembly);
		jit->incomplete = process->jit_assembly.incomplete;
		row->comm = process->comm;
		row->inner_pid = process->inner_pid;
		if (i < a->sequences.size)
			jit->sequence_gaps = jit_sequences_gaps(&a->sequences.data[i]);
		add_jit_counts(all, jit);
	}
}

int analysis_finish(struct analysis *a)
{
	complete_ledger(a);
	return analysis_complete_names(a);
}

int analysis_write(struct analysis *a, FILE *out)
{
	vec_for_each (sink, &a->sinks) {
		if (sink->out == out)
			return sink->ops->finish(sink->sink, &a->view);
	}
	return -EINVAL;
}

struct analysis_progress analysis_progress(const struct analysis *a)
{
	struct analysis_progress progress = {
		.code_unknown = a->ledger.fate[FATE_CODE_UNKNOWN],
		.samples = ledger_taken(&a->ledger),
	};

	for (size_t i = 0; i < a->ledger.processes.size; i++)
		progress.jit_methods += a->ledger.processes.data[i].jit.methods;
	return progress;
}

const struct view *analysis_view(const struct analysis *a)
{
	return &a->view;
}

const struct module_table *analysis_modules(const struct analysis *a)
{
	return &a->modules;
}

const struct process_table *analysis_processes(const struct analysis *a)
{
	return &a->processes;
}
