/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/pipeline.h"

#include <errno.h>
#include <stdlib.h>

#include "base/scope.h"
#include "decode/record/record_check.h"
#include "pipeline/analysis/begun_processes.h"
#include "pipeline/pipeline_state.h"

DEFINE_CLEANUP(struct pipeline *, pipeline_destroy);

/*
 * Returns true if a record is taken before it is written, since it may add to the state: the
 * recording says what there was no memory for. Whether the record is written does not depend on the
 * order.
 */
static bool is_taken_first(const struct jitbpf_record *record)
{
	switch (record->type) {
	case JITBPF_CODE_EVENT:
	case JITBPF_JOURNAL:
	case JITBPF_MAPPING:
	case JITBPF_COMM:
	case JITBPF_FORK:
	case JITBPF_OWNER:
	case JITBPF_INNER_PID:
		return true;
	default:
		return false;
	}
}

/* Apply a record, and write it to the recordings that have it. */
static int write_and_take(struct pipeline *p, const struct jitbpf_record *record)
{
	int err;

	if (!is_taken_first(record)) {
		pipeline_write_record(p, record, 0);
		return analysis_take(p->analysis, record);
	}
	err = analysis_take(p->analysis, record);
	pipeline_write_record(p, record, analysis_refused(p->analysis));
	return err;
}

/*
 * Write a record of a process's snapshot to the current recorder. A failure ends that recorder
 * only.
 */
static int describe(void *context, const struct jitbpf_record *record)
{
	struct pipeline *p = context;

	if (!p->recorder_error)
		p->recorder_error = recorder_write(p->recorder, record);
	return 0;
}

static struct record_receiver describer(struct pipeline *p)
{
	return (struct record_receiver){p->recorder && !p->recorder_error ? describe : NULL, p};
}

/* With only_sampled: the first sample of a process begins it. */
static int expect(void *context, const struct jitbpf_sample *sample)
{
	struct pipeline *p = context;

	return analysis_begin_process(p->analysis, sample->pid, sample->start_ns, sample->h.time_ns,
				      describer(p));
}

/* Begin the process of lost samples, too. They may be reported after the process was freed. */
static int expect_lost(struct pipeline *p, const struct jitbpf_lost_samples *lost)
{
	if (!process_table_find(analysis_processes(p->analysis), lost->pid, lost->start_ns,
				lost->h.time_ns))
		return 0;
	return analysis_begin_process(p->analysis, lost->pid, lost->start_ns, lost->h.time_ns,
				      describer(p));
}

static int take_finished(void *context, const struct jitbpf_record *record)
{
	struct pipeline *p = context;
	int err = 0;

	if (p->only_sampled && record->type == JITBPF_LOST_SAMPLES)
		err = expect_lost(p, (const struct jitbpf_lost_samples *)record);
	if (err)
		return err;
	err = write_and_take(p, record);
	if (!err && p->only_sampled && record->type == JITBPF_MAPPING)
		err = analysis_begin_sharer(p->analysis, (const struct jitbpf_mapping *)record,
					    describer(p));
	return err;
}

static void count_malformed(struct pipeline *p)
{
	uint64_t malformed = intake_malformed(p->intake) + p->malformed;

	analysis_count_malformed(p->analysis, malformed - p->malformed_counted);
	p->malformed_counted = malformed;
}

static int end_round(void *context, uint64_t time_ns)
{
	struct pipeline *p = context;
	int err = analysis_begin_sharers(p->analysis, time_ns, describer(p)), end_err;

	count_malformed(p);
	if (p->recorder && !p->recorder_error)
		p->recorder_error = recorder_end_round(p->recorder, time_ns);
	end_err = analysis_end_round(p->analysis, time_ns);
	return err ?: end_err;
}

int pipeline_create(const struct pipeline_options *options, struct pipeline **ret)
{
	CLEANUP(pipeline_destroyp) struct pipeline *p = calloc(1, sizeof(*p));
	struct intake_options intake = {
		.unwind_service = options->unwind_service,
		.unwind_tables = options->unwind_tables,
		.texts = options->texts,
		.keep_code = options->keep_code,
		.code_bytes = options->code_bytes,
	};
	struct record_consumer consumer = {
		.take = take_finished,
		.end_round = end_round,
		.expect = options->analysis.only_sampled ? expect : NULL,
		.context = p,
	};
	int err;

	if (!p)
		return -ENOMEM;
	p->records_code = options->record_code;
	p->only_sampled = options->analysis.only_sampled;
	err = analysis_create(&options->analysis, &p->analysis);
	if (err)
		return err;
	intake.processes = analysis_processes(p->analysis);
	intake.modules = analysis_modules(p->analysis);
	err = intake_create(&intake, &consumer, &p->intake);
	if (!err)
		*ret = TAKE_PTR(p);
	return err;
}

void pipeline_destroy(struct pipeline *p)
{
	if (!p)
		return;
	intake_destroy(p->intake);
	vec_deinit(&p->closing);
	analysis_destroy(p->analysis);
	free(p);
}

/* The reader of a recording checks for damage only; records are untrusted and checked here. */
static int take_recorded(void *context, const struct jitbpf_record *record)
{
	struct pipeline *p = context;

	if (record->type < JITBPF_CHUNK_INFO &&
	    (record_check(record, record->size_bytes) || !record_is_finished(record))) {
		p->malformed++;
		return 0;
	}
	return take_finished(p, record);
}

static int round_of_finished(struct pipeline *p, const struct source *source)
{
	const struct run_info *info = analysis_view(p->analysis)->info;
	uint64_t time_ns = info->start_ns + info->duration_ns;
	int state = source->drain(source->context, take_recorded, p, &time_ns), err = 0;

	if (state != SOURCE_OPEN)
		err = end_round(p, time_ns);
	return state < 0 ? state : (err ?: state);
}

int pipeline_round(struct pipeline *p, const struct source *source, struct recorder *recorder)
{
	int state;

	p->recorder = recorder;
	state = source->finished ? round_of_finished(p, source) : intake_round(p->intake, source);
	p->recorder = NULL;
	return state;
}

int pipeline_recorder_error(const struct pipeline *p)
{
	return p->recorder_error;
}

bool pipeline_waits(const struct pipeline *p)
{
	return intake_waits(p->intake);
}

bool pipeline_is_urgent(const struct pipeline *p)
{
	return intake_is_urgent(p->intake);
}

int pipeline_set_info(struct pipeline *p, const struct run_info *info)
{
	return analysis_set_info(p->analysis, info);
}

int pipeline_add_sink(struct pipeline *p, const struct sink_ops *ops, FILE *out)
{
	return analysis_add_sink(p->analysis, ops, out);
}

void pipeline_leave_memory(struct pipeline *p, uint32_t times)
{
	analysis_leave_memory(p->analysis, times);
}

int pipeline_add_live(struct pipeline *p, const struct sink_ops *ops, struct sink *sink)
{
	return analysis_add_live(p->analysis, ops, sink);
}

int pipeline_subscribe(struct pipeline *p, const struct sink *sink, uint64_t period_ns)
{
	return analysis_subscribe(p->analysis, sink, period_ns);
}

void pipeline_unsubscribe(struct pipeline *p, const struct sink *sink)
{
	analysis_unsubscribe(p->analysis, sink);
}

int pipeline_finish(struct pipeline *p)
{
	count_malformed(p);
	return analysis_finish(p->analysis);
}

void pipeline_close(struct pipeline *p)
{
	analysis_close(p->analysis);
}

int pipeline_write(struct pipeline *p, FILE *out)
{
	return analysis_write(p->analysis, out);
}

uint64_t pipeline_left_out(const struct pipeline *p, FILE *out)
{
	return analysis_left_out(p->analysis, out);
}

void pipeline_set_packages(struct pipeline *p, const struct file_packages *packages)
{
	analysis_set_packages(p->analysis, packages);
}

void pipeline_set_screen(struct pipeline *p, uint32_t columns, bool colours)
{
	analysis_set_screen(p->analysis, columns, colours);
}

struct analysis_progress pipeline_progress(const struct pipeline *p)
{
	return analysis_progress(p->analysis);
}

const struct view *pipeline_view(const struct pipeline *p)
{
	return analysis_view(p->analysis);
}

const struct view *pipeline_event_view(struct pipeline *p, uint32_t event)
{
	return analysis_event_view(p->analysis, event);
}

const struct view *pipeline_shown_view(struct pipeline *p)
{
	return analysis_shown_view(p->analysis);
}

bool pipeline_has_event(const struct pipeline *p, const char *name)
{
	return analysis_has_event(p->analysis, name);
}

bool pipeline_wants_names(const struct pipeline *p)
{
	return analysis_wants_names(p->analysis);
}

int pipeline_read_names(struct pipeline *p, const struct jitbpf_record *record)
{
	return analysis_read_names(p->analysis, record);
}

const struct module_table *pipeline_modules(const struct pipeline *p)
{
	return analysis_modules(p->analysis);
}
