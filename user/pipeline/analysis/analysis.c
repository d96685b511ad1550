/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "pipeline/analysis/analysis_state.h"
#include "pipeline/analysis/begun_processes.h"

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
	a->keeps_code = options->keep_code;
	a->only_sampled = options->only_sampled;
	a->no_paths = options->no_paths;
	if (options->filter)
		a->filter = *options->filter;
	a->stack_cache = calloc(STACK_CACHE_SLOTS, sizeof(*a->stack_cache));
	a->frame_cache.slots = calloc(FRAME_CACHE_SLOTS, sizeof(*a->frame_cache.slots));
	if (!a->stack_cache || !a->frame_cache.slots)
		return -ENOMEM;
	if (options->modules_bytes)
		module_table_set_memory(&a->modules, options->modules_bytes);
	a->profile_memory.limit = options->profile_bytes ?: OWNER_BUDGET_UNLIMITED;
	err = string_pool_create(&a->strings);
	err = err ?: space_map_create(SPACE_END_WHOLE, &a->kernel_code);
	err = err ?: epoch_create(0, &a->modules, &a->profile_memory, options->view, &a->epoch);
	if (err)
		return err;
	a->epoch->view.extra = options->extra;
	a->epoch->view.samples_bytes = options->samples_bytes;
	a->epoch->ledger.filtered = sample_filter_is_set(&a->filter);
	a->names_max = ANALYSIS_NAMES_MIN;
	process_table_init(&a->processes, a->strings, &a->modules,
			   options->budget ?: &code_budget_default, options->line_rules);
	analysis_watch_regions(a);
	if (options->memory_bytes)
		process_table_set_memory(&a->processes, options->memory_bytes);
	if (options->joint_memory) {
		owner_budget_join(&a->processes.memory, &a->profile_memory,
				  options->memory_bytes + options->profile_bytes);
		a->processes.memory.share = ANALYSIS_CODE_SHARE;
		a->profile_memory.share = ANALYSIS_PROFILE_SHARE;
	}
	*ret = TAKE_PTR(a);
	return 0;
}

void analysis_destroy(struct analysis *a)
{
	if (!a)
		return;
	while (a->closing)
		analysis_drop_epoch(a);
	epoch_destroy(TAKE_PTR(a->epoch));
	sink_list_deinit(&a->live);
	vec_for_each (sequences, &a->sequences)
		event_sequences_deinit(sequences);
	vec_deinit(&a->sequences);
	vec_for_each (counts, &a->unsampled)
		free(*counts);
	vec_deinit(&a->unsampled);
	vec_deinit(&a->throttled_since);
	free(a->stack_cache);
	free(a->stacks);
	free(a->frame_cache.slots);
	runtime_functions_deinit(&a->functions);
	process_table_deinit(&a->processes);
	cgroup_table_deinit(&a->cgroups);
	owner_budget_deinit(&a->profile_memory);
	space_map_destroy(a->kernel_code);
	module_table_deinit(&a->modules);
	string_pool_destroy(a->strings);
	free(a);
}

int analysis_set_info(struct analysis *a, const struct run_info *info)
{
	a->round_ns = info->start_ns;
	a->epoch->payer = EPOCH_FREE;
	return epoch_set_info(a->epoch, info);
}

/* Keep the samples of the current epoch by time, if a sink reads them. All or none are kept. */
static int keep_time(struct analysis *a)
{
	struct epoch *e = a->epoch;
	bool read = sink_list_reads_slices(&e->sinks) || sink_list_reads_slices(&a->live);

	return read && !e->events[0].threads.counts.size ? epoch_keep_time(e) : 0;
}

void analysis_leave_memory(struct analysis *a, uint32_t times)
{
	if (times > a->profile_memory.beside)
		a->profile_memory.beside = times;
}

int analysis_add_sink(struct analysis *a, const struct sink_ops *ops, FILE *out)
{
	int err = sink_list_add(&a->epoch->sinks, ops, out);

	if (err)
		return err;
	analysis_leave_memory(a, ops->profile_times);
	return keep_time(a);
}

int analysis_add_live(struct analysis *a, const struct sink_ops *ops, struct sink *sink)
{
	int err = sink_list_add_live(&a->live, ops, sink);

	return err ?: keep_time(a);
}

int analysis_subscribe(struct analysis *a, const struct sink *sink, uint64_t period_ns)
{
	return sink_list_subscribe(&a->live, sink, period_ns);
}

void analysis_unsubscribe(struct analysis *a, const struct sink *sink)
{
	sink_list_subscribe(&a->live, sink, 0);
}

int analysis_row(struct analysis *a, struct epoch *e, const struct process *process,
		 uint64_t time_ns, uint32_t *ret)
{
	uint32_t container = 0, unit = 0;
	int err = epoch_charge(e, process);

	err = err ?: analysis_cgroup_names(a, e, process, time_ns, &container, &unit);
	if (err == -EDQUOT) {
		epoch_refuse(e);
		err = 0;
	}
	return err ?: epoch_row(e, a->strings, process, container, unit, ret);
}

struct ledger_process *analysis_ledger_row(struct analysis *a, const struct process *process)
{
	uint32_t row;

	if (analysis_row(a, a->epoch, process, UINT64_MAX, &row))
		return NULL;
	return &a->epoch->ledger.processes.data[row];
}

uint16_t analysis_refused(const struct analysis *a)
{
	return (uint16_t)(a->processes.charges.refused << JITBPF_RECORD_REFUSED_SHIFT);
}

/* Add counts to the row that change without an event: inlined methods without a parent. */
static void count_uncounted(struct analysis *a, const struct process *process)
{
	struct code_account *account = process->account;
	struct ledger_process *row =
		analysis_has_begun(a, process) ? epoch_find_row(a->epoch, process) : NULL;

	if (row && account && memcmp(&account->counts, &account->counted, sizeof(account->counts)))
		analysis_count_code(&row->jit, account);
}

static void count_all_uncounted(struct analysis *a)
{
	vec_for_each (process, &a->processes.processes) {
		if (*process)
			count_uncounted(a, *process);
	}
}

/* A process is about to be freed. */
static void drop_process(struct analysis *a, const struct process *process)
{
	count_uncounted(a, process);
	analysis_process_ends(a, process);
	if (process->slot < a->unsampled.size)
		free(TAKE_PTR(a->unsampled.data[process->slot]));
	if (process->slot >= a->sequences.size)
		return;
	event_sequences_deinit(&a->sequences.data[process->slot]);
}

/* Show an epoch and older ones, the oldest first. */
static void show(struct analysis *a, struct epoch *e, struct epoch *older)
{
	if (older)
		show(a, older, older->older);
	analysis_update_ledger(a, e);
	if (e->info.more_events && analysis_complete_events(a, e))
		return; /* without memory, the next round shows it */
	e->view.oldest_epoch = older ? older->view.oldest_epoch : e->number;
	e->view.round = e->round++; /* rows that change from now on get a later number */
	sink_list_round(&a->live, &e->view, a->round_ns);
}

/* Returns true if a live view requests another call. */
static bool show_round(struct analysis *a)
{
	if (!sink_list_round_due(&a->live, a->round_ns))
		return false;
	show(a, a->epoch, a->closing);
	return sink_list_end_round(&a->live, a->round_ns);
}

bool analysis_show_all(struct analysis *a, bool wait)
{
	bool again;

	sink_list_all_due(&a->live);
	do {
		again = show_round(a);
	} while (again && wait);
	return !again;
}

/* Visits all processes, so not in every round. */
static void drop_history(struct analysis *a, uint64_t until_ns)
{
	vec_for_each (process, &a->processes.leaving)
		drop_process(a, *process);
	process_table_forget(&a->processes, until_ns);
	count_all_uncounted(a);
	if (string_pool_size(a->strings) > a->names_max)
		analysis_renew_names(a);
	space_map_forget(a->kernel_code, until_ns);
}

int analysis_end_round(struct analysis *a, uint64_t time_ns)
{
	uint64_t before_ns = round_step_ns(a->round_ns);
	int err;

	if (time_ns > a->round_ns)
		a->round_ns = time_ns;
	a->epoch->info.duration_ns = a->round_ns - a->epoch->info.start_ns;
	/*
	 * History is kept relative to the previous round: a round can be longer than the history,
	 * and its deferred samples come with the next round.
	 */
	if (before_ns > ANALYSIS_HISTORY_NS && round_step_ns(a->round_ns) > before_ns)
		drop_history(a, before_ns - ANALYSIS_HISTORY_NS);
	err = analysis_name_new(a); /* also notes the modules of new locations */
	module_table_forget(&a->modules, analysis_oldest_epoch(a)->number, a->round_ns);
	if (!err)
		show_round(a);
	for (struct epoch *e = a->closing; e; e = e->older)
		e->round++;
	a->epoch->round++;
	return err;
}

void analysis_count_malformed(struct analysis *a, uint64_t count)
{
	a->epoch->ledger.malformed_records += count;
}

int analysis_finish(struct analysis *a)
{
	int err;

	count_all_uncounted(a);
	err = analysis_complete_names(a, a->epoch, true);
	analysis_update_ledger(a, a->epoch);
	err = err ?: analysis_complete_events(a, a->epoch);
	analysis_show_all(a, true);
	return err;
}

void analysis_close(struct analysis *a)
{
	free(TAKE_PTR(a->stack_cache));
	free(TAKE_PTR(a->stacks));
	free(TAKE_PTR(a->frame_cache.slots));
	for (uint32_t i = 0; i < JITBPF_EVENTS_MAX; i++) {
		profile_close(&a->epoch->events[i].profile);
		thread_counts_close(&a->epoch->events[i].threads);
	}
}

int analysis_write(struct analysis *a, FILE *out)
{
	return sink_list_finish(&a->epoch->sinks, event_view(a->epoch, a->epoch->shown), out);
}

uint64_t analysis_left_out(const struct analysis *a, FILE *out)
{
	return sink_list_left_out(&a->epoch->sinks, out);
}

void analysis_set_packages(struct analysis *a, const struct file_packages *packages)
{
	a->epoch->view.packages = packages;
}

void analysis_set_screen(struct analysis *a, uint32_t columns, bool colours)
{
	a->epoch->view.options.columns = columns;
	a->epoch->view.options.colours = colours;
}

struct analysis_progress analysis_progress(const struct analysis *a)
{
	struct analysis_progress progress = {
		.code_unknown = a->epoch->ledger.samples.fate[FATE_CODE_UNKNOWN],
		.samples = ledger_taken(&a->epoch->ledger),
	};

	for (size_t i = 0; i < a->epoch->ledger.processes.size; i++)
		progress.jit_methods += a->epoch->ledger.processes.data[i].jit.methods;
	return progress;
}

const struct view *analysis_view(const struct analysis *a)
{
	return &a->epoch->view;
}

const struct view *analysis_shown_view(struct analysis *a)
{
	return event_view(a->epoch, a->epoch->shown);
}

const struct view *analysis_event_view(struct analysis *a, uint32_t event)
{
	return event_view(a->epoch, event <= a->epoch->info.more_events ? event : 0);
}

bool analysis_has_event(const struct analysis *a, const char *name)
{
	return event_number(a->epoch, name) < JITBPF_EVENTS_MAX;
}

bool analysis_wants_names(const struct analysis *a)
{
	const struct owner_budget *memory = &a->profile_memory, *other = memory->other;

	if (a->epoch->names_read || a->no_paths)
		return false;
	return owner_budget_taken(memory) > memory->limit / 2 ||
	       (other && owner_budget_taken(memory) + other->used > memory->joint_limit / 2);
}

int analysis_read_names(struct analysis *a, const struct jitbpf_record *record)
{
	if (record)
		return record->type == JITBPF_CHUNK_FRAMES ? analysis_take(a, record) : 0;
	a->epoch->names_read = true;
	return analysis_complete_names(a, a->epoch, false);
}

const struct module_table *analysis_modules(const struct analysis *a)
{
	return &a->modules;
}

const struct process_table *analysis_processes(const struct analysis *a)
{
	return &a->processes;
}

uint32_t analysis_epoch(const struct analysis *a)
{
	return a->epoch->number;
}
