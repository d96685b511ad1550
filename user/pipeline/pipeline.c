/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "decode/record/record_check.h"
#include "pipeline/pipeline_state.h"
#include "uapi/recording.h"

/* How long samples may come after what they need has been superseded. */
#define HISTORY_NS 2000000000ull

/* Forgetting goes through all processes, and rounds can be short. */
#define FORGET_STEP_NS 50000000ull

DEFINE_CLEANUP(struct pipeline *, pipeline_destroy);

int pipeline_create(const struct pipeline_options *options, struct pipeline **ret)
{
	CLEANUP(pipeline_destroyp) struct pipeline *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	if (options->symbols) {
		p->symbols = *options->symbols;
		p->has_symbols = true;
	}
	if (options->filter) {
		p->filter = *options->filter;
		p->ledger.filtered = sample_filter_is_set(options->filter);
	}
	p->stack_cache = calloc(STACK_CACHE_SLOTS, sizeof(*p->stack_cache));
	if (!p->stack_cache)
		return -ENOMEM;
	err = string_pool_create(&p->strings);
	err = err ?: space_map_create(SPACE_END_WHOLE, &p->kernel_code);
	err = err ?: frame_table_create(p->strings, &p->frames);
	err = err ?: recorded_frames_create(p->strings, &p->recorded);
	if (err)
		return err;
	if (options->unwind_service)
		err = unwinder_create(options->unwind_service, options->unwind_tables, &p->modules,
				      &p->unwind.unwinder);
	if (err)
		return err;
	process_table_init(&p->processes, p->strings, &p->modules,
			   options->budget ?: &code_budget_default, options->line_rules);
	p->info = (struct run_info){.event = "", .command = "", .host = "", .kernel = ""};
	p->view = (struct view){
		.info = &p->info,
		.strings = p->strings,
		.modules = &p->modules,
		.locations = &p->locations,
		.frames = p->frames,
		.profile = &p->profile,
		.ledger = &p->ledger,
	};
	if (options->view)
		p->view.options = *options->view;
	if (p->view.options.by == VIEW_BY_TID)
		p->view.threads = &p->threads;
	*ret = TAKE_PTR(p);
	return 0;
}

void pipeline_destroy(struct pipeline *p)
{
	if (!p)
		return;
	vec_for_each (sink, &p->sinks)
		sink->ops->destroy(sink->sink);
	vec_deinit(&p->sinks);
	round_buffer_deinit(&p->round);
	vec_for_each (sequences, &p->sequences)
		jit_sequences_deinit(sequences);
	vec_deinit(&p->sequences);
	vec_deinit(&p->throttled_since);
	pipeline_deinit_unwinding(p);
	vec_deinit(&p->ledger.processes);
	free(p->stack_cache);
	profile_deinit(&p->profile);
	thread_counts_deinit(&p->threads);
	location_table_deinit(&p->locations);
	recorded_frames_destroy(p->recorded);
	frame_table_destroy(p->frames);
	process_table_deinit(&p->processes);
	space_map_destroy(p->kernel_code);
	module_table_deinit(&p->modules);
	string_pool_destroy(p->strings);
	free(p);
}

/* A string that lives as long as the pipeline. */
static int keep(struct pipeline *p, const char *s, const char **ret)
{
	uint32_t number;
	int err = string_pool_add(p->strings, s, strlen(s), &number);

	if (!err)
		*ret = string_pool_get(p->strings, number);
	return err;
}

int pipeline_set_info(struct pipeline *p, const struct run_info *info)
{
	struct run_info copy = *info;
	int err;

	err = keep(p, info->event, &copy.event);
	err = err ?: keep(p, info->command, &copy.command);
	err = err ?: keep(p, info->host, &copy.host);
	err = err ?: keep(p, info->kernel, &copy.kernel);
	if (!err)
		p->info = copy;
	return err;
}

int pipeline_add_sink(struct pipeline *p, const struct sink_ops *ops, FILE *out)
{
	struct pipeline_sink added = {.ops = ops, .out = out};
	int err = vec_reserve(&p->sinks, p->sinks.size + 1);

	err = err ?: ops->create(out, &added.sink);
	return err ?: vec_push(&p->sinks, added);
}

struct ledger_process *pipeline_ledger_row(struct pipeline *p, const struct process *process)
{
	struct ledger_process *row;

	while (p->ledger.processes.size <= process->number) {
		if (vec_push(&p->ledger.processes, (struct ledger_process){0}))
			return NULL;
	}
	row = &p->ledger.processes.data[process->number];
	row->pid = process->pid;
	row->comm = process->comm;
	return row;
}

static int take_process_event(struct pipeline *p, const struct jitbpf_record *record)
{
	int err;

	switch (record->type) {
	case JITBPF_MAPPING:
		err = process_table_map(&p->processes, (const struct jitbpf_mapping *)record);
		break;
	case JITBPF_COMM:
		err = process_table_comm(&p->processes, (const struct jitbpf_comm *)record);
		break;
	case JITBPF_FORK:
		err = process_table_fork(&p->processes, (const struct jitbpf_task *)record);
		break;
	default:
		err = process_table_exit(&p->processes, (const struct jitbpf_task *)record);
	}
	if (!err)
		pipeline_unwind_process_changed(p, record);
	return err;
}

/* It is recorded when its stack is what it will be. */
static bool is_unfinished(const struct jitbpf_record *record)
{
	const struct jitbpf_sample *sample = (const struct jitbpf_sample *)record;

	return record->type == JITBPF_SAMPLE &&
	       (record->flags & JITBPF_SAMPLE_STACK_COPY || sample->mappings_age_ns);
}

static int take_record(void *context, const struct jitbpf_record *record)
{
	struct pipeline *p = context;

	if (is_unfinished(record))
		return pipeline_take_unfinished(p, (const struct jitbpf_sample *)record);
	if (record->type == JITBPF_CODE) {
		pipeline_unwind_code_copied(p, (const struct jitbpf_code *)record);
		return 0;
	}
	if (record->type != JITBPF_SAMPLE && record->time_ns > p->changed_ns)
		p->changed_ns = record->time_ns;
	switch (record->type) {
	case JITBPF_SAMPLE:
		return pipeline_take_sample(p, (const struct jitbpf_sample *)record);
	case JITBPF_JIT:
		return pipeline_take_jit(p, (const struct jitbpf_jit *)record);
	case JITBPF_JOURNAL:
		return pipeline_take_journal(p, (const struct jitbpf_journal *)record);
	case JITBPF_MAPPING:
	case JITBPF_COMM:
	case JITBPF_FORK:
	case JITBPF_EXIT:
		return take_process_event(p, record);
	case JITBPF_INNER_PID:
		return process_table_inner_pid(&p->processes,
					       (const struct jitbpf_inner_pid *)record);
	case JITBPF_KERNEL_SYMBOL:
		return pipeline_take_kernel_symbol(p, (const struct jitbpf_kernel_symbol *)record);
	case JITBPF_THROTTLE:
		return pipeline_take_throttle(p, (const struct jitbpf_throttle *)record);
	case JITBPF_LOST_SAMPLES:
		return pipeline_take_lost(p, (const struct jitbpf_lost_samples *)record);
	case JITBPF_COUNTERS:
		pipeline_take_counters(p, (const struct jitbpf_counters *)record);
		return 0;
	default:
		return 0;
	}
}

void pipeline_record(struct pipeline *p, const struct jitbpf_record *record)
{
	if (p->recorder && !p->recorder_error)
		p->recorder_error = recorder_write(p->recorder, record);
}

int pipeline_enter(struct pipeline *p, const struct jitbpf_record *record)
{
	uint64_t time_ns = record->time_ns;

	if (record->type == JITBPF_JIT)
		time_ns = pipeline_jit_time((const struct jitbpf_jit *)record);
	pipeline_record(p, record);
	return round_buffer_add(&p->round, time_ns, record);
}

/* The source's taker. */
static int take_from_source(void *context, const struct jitbpf_record *record)
{
	struct pipeline *p = context;
	int err;

	if (record->type == JITBPF_CHUNK_INFO)
		return pipeline_take_info(p, (const struct jitbpf_info_chunk *)record);
	if (record->type == JITBPF_CHUNK_FRAMES) {
		p->has_recorded = true;
		err = recorded_frames_add(p->recorded, (const struct jitbpf_frames_chunk *)record);
		if (err == -EBADMSG)
			p->ledger.malformed_records++;
		return err == -EBADMSG ? 0 : err;
	}
	if (record_check(record, record->size_bytes)) {
		p->ledger.malformed_records++;
		return 0;
	}
	if (is_unfinished(record))
		return pipeline_enter_unfinished(p, (const struct jitbpf_sample *)record);
	if (record->type == JITBPF_CODE) /* recorded is what it was good for */
		return p->unwind.unwinder ? round_buffer_add(&p->round, record->time_ns, record)
					  : 0;
	return pipeline_enter(p, record);
}

/*
 * Apply what happened up to time_ns, when the drain began. What is later came only from the
 * sources that were drained last, and has to wait for what the others have of that time.
 */
static int work_off_round(struct pipeline *p, uint64_t time_ns, bool last)
{
	uint64_t before_ns = p->info.start_ns + p->info.duration_ns;
	int err = round_buffer_drain(&p->round, time_ns, take_record, p);

	/* Samples that the kernel walked by tables have been recorded at their turn. */
	if (p->recorder && !p->recorder_error)
		p->recorder_error = recorder_end_round(p->recorder, time_ns);
	if (time_ns > p->info.start_ns)
		p->info.duration_ns = time_ns - p->info.start_ns;
	err = err ?: pipeline_finish_stacks(p, time_ns, last);
	/*
	 * Samples of this round that were finished just now come in with the next one, which has
	 * to know what they need, however long this one was. A replay cannot tell that some wait.
	 */
	if (before_ns > HISTORY_NS && before_ns >= p->forget_ns) {
		p->forget_ns = before_ns + FORGET_STEP_NS;
		process_table_forget(&p->processes, before_ns - HISTORY_NS);
		space_map_forget(p->kernel_code, before_ns - HISTORY_NS);
	}
	return err ?: pipeline_request_names(p);
}

/* After the last round: what has waited for a next one. */
static int work_off_rest(struct pipeline *p)
{
	int err;

	p->unwind.ending = true;
	err = round_buffer_drain(&p->round, UINT64_MAX, take_record, p);
	return err ?: pipeline_request_names(p);
}

int pipeline_round(struct pipeline *p, const struct source *source, struct recorder *recorder)
{
	uint64_t time_ns = p->info.start_ns + p->info.duration_ns;
	int state, err = 0;

	p->recorder = recorder;
	state = source->drain(source->context, take_from_source, p, &time_ns);
	if (state != SOURCE_OPEN) {
		err = work_off_round(p, time_ns, state <= 0);
		if (!err && state <= 0)
			err = work_off_rest(p);
	}
	p->recorder = NULL;
	return state < 0 ? state : (err ?: state);
}

bool pipeline_waits(const struct pipeline *p)
{
	return p->unwind.held.size ||
	       p->info.start_ns + p->info.duration_ns < p->unwind.soon_until_ns;
}

int pipeline_recorder_error(const struct pipeline *p)
{
	return p->recorder_error;
}

static void add_jit_counts(struct jit_counts *all, const struct jit_counts *one)
{
	_Static_assert(sizeof(*one) % sizeof(uint64_t) == 0, "nothing but counts");

	for (size_t i = 0; i < sizeof(*one) / sizeof(uint64_t); i++)
		((uint64_t *)all)[i] += ((const uint64_t *)one)[i];
}

/* Fold what is known only at the end into the ledger. */
static void complete_ledger(struct pipeline *p)
{
	uint64_t end_ns = p->info.start_ns + p->info.duration_ns;

	vec_for_each (since, &p->throttled_since) {
		if (*since && *since < end_ns)
			p->ledger.throttled_ns += end_ns - *since;
		*since = 0;
	}
	p->ledger.counters[JITBPF_COUNT_MAPPINGS_OVER_BUDGET] = p->modules.over_budget;
	pipeline_count_unwinding(p);
	for (uint32_t i = 0; i < p->ledger.processes.size; i++) {
		struct ledger_process *row = &p->ledger.processes.data[i];
		struct process *process = p->processes.processes.data[i];
		struct jit_counts *jit = &row->jit, *all = &p->ledger.jit;

		jit_assembly_flush(&process->jit_assembly);
		jit->incomplete = process->jit_assembly.incomplete;
		row->comm = process->comm;
		row->inner_pid = process->inner_pid;
		if (i < p->sequences.size)
			jit->sequence_gaps = jit_sequences_gaps(&p->sequences.data[i]);
		add_jit_counts(all, jit);
	}
}

int pipeline_finish(struct pipeline *p)
{
	complete_ledger(p);
	return pipeline_complete_names(p);
}

int pipeline_write(struct pipeline *p, FILE *out)
{
	vec_for_each (sink, &p->sinks) {
		if (sink->out == out)
			return sink->ops->finish(sink->sink, &p->view);
	}
	return -EINVAL;
}

struct pipeline_progress pipeline_progress(const struct pipeline *p)
{
	struct pipeline_progress progress = {
		.code_unknown = p->ledger.fate[FATE_CODE_UNKNOWN],
		.samples = ledger_taken(&p->ledger),
	};

	for (size_t i = 0; i < p->ledger.processes.size; i++)
		progress.jit_methods += p->ledger.processes.data[i].jit.methods;
	return progress;
}

const struct view *pipeline_view(const struct pipeline *p)
{
	return &p->view;
}

const struct module_table *pipeline_modules(const struct pipeline *p)
{
	return &p->modules;
}
