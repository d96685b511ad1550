/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/intake/intake.h"

#include <stdlib.h>

#include "base/scope.h"
#include "decode/record/code_event.h"
#include "decode/record/record_check.h"
#include "decode/record/sample_parts.h"
#include "pipeline/intake/intake_state.h"
#include "uapi/loss.h"
#include "unwind/unwinder_runtimes.h"

#define INTAKE_REFUSALS_NS 50000000ull

DEFINE_CLEANUP(struct intake *, intake_destroy);

int intake_create(const struct intake_options *options, const struct record_consumer *consumer,
		  struct intake **ret)
{
	CLEANUP(intake_destroyp) struct intake *intake = calloc(1, sizeof(*intake));
	int err = 0;

	if (!intake)
		return -ENOMEM;
	intake->consumer = *consumer;
	intake->processes = options->processes;
	intake->modules = options->modules;
	if (options->texts)
		intake->texts = *options->texts;
	intake->waiting.budget.limit = WAITING_BYTES_MAX;
	if (options->unwind_service)
		err = unwinder_create(options->unwind_service, options->unwind_tables,
				      options->modules, &intake->unwinder);
	if (!err && options->unwind_service && options->keep_code) {
		unwinder_keep_code(intake->unwinder);
		intake->keeps_code = true;
		intake->kept.max_bytes = options->code_bytes;
	}
	if (err)
		return err;
	*ret = TAKE_PTR(intake);
	return 0;
}

void intake_destroy(struct intake *intake)
{
	if (!intake)
		return;
	round_buffer_deinit(&intake->round);
	shim_records_deinit(&intake->shim);
	event_budget_deinit(&intake->budget);
	waiting_samples_deinit(&intake->waiting);
	kept_code_deinit(&intake->kept);
	unwinder_destroy(intake->unwinder);
	free(intake);
}

static int emit_code(struct intake *intake, const struct jitbpf_sample *sample)
{
	return kept_code_emit(&intake->kept, intake->unwinder, intake_process_of(intake, sample),
			      sample, &intake->consumer);
}

static int emit_record(void *intake, const struct jitbpf_record *record)
{
	return intake_emit(intake, record);
}

int intake_emit(struct intake *intake, const struct jitbpf_record *record)
{
	int err = intake->unwinder ? intake_code_changes(intake, record) : 0;

	err = err ?: code_room_make(&intake->room, intake->processes, record, emit_record, intake);
	if (!err && intake->keeps_code && record->type == JITBPF_SAMPLE)
		err = emit_code(intake, (const struct jitbpf_sample *)record);
	err = err ?: intake->consumer.take(intake->consumer.context, record);
	if (!err && intake->unwinder)
		err = intake_unwind_changed(intake, record);
	return err;
}

/* Returns true if a sample has more words than a live one can have. */
static bool is_too_deep(const struct jitbpf_record *record)
{
	return record->type == JITBPF_SAMPLE &&
	       ((const struct jitbpf_sample *)record)->user_words > JITBPF_USER_FRAMES_MAX;
}

/* The source's taker. Live records are validated here only. */
static int take_from_source(void *context, const struct jitbpf_record *record)
{
	struct intake *intake = context;
	int err = 0;

	if (record_check(record, record->size_bytes) || is_too_deep(record)) {
		intake->malformed++;
		return 0;
	}
	if ((record->type == JITBPF_CODE || record->type == JITBPF_PROGRAM) && !intake->unwinder)
		return 0;
	if (record->type == JITBPF_JIT)
		return shim_records_take(&intake->shim, (const struct jitbpf_jit *)record,
					 &intake->round);
	if (record->type == JITBPF_EXIT)
		err = shim_records_end(&intake->shim, ((const struct jitbpf_task *)record)->pid,
				       record->time_ns, &intake->round);
	return err ?: round_buffer_add(&intake->round, record->time_ns, record);
}

int intake_take_code_event(struct intake *intake, const struct jitbpf_code_event *event)
{
	AUTO_FREE struct jitbpf_code_event *plain = NULL;

	if (event_budget_is_tight(&intake->budget, event) &&
	    code_event_without_scopes(event, &plain) == -ENOMEM)
		return -ENOMEM;
	if (plain)
		event = plain;
	if (!event_budget_admits(&intake->budget, intake->processes, event, plain != NULL))
		return 0;
	return intake_emit(intake, &event->h);
}

static int take_sample(struct intake *intake, const struct jitbpf_sample *sample)
{
	const struct record_consumer *consumer = &intake->consumer;
	const struct frame_words user = sample_user_frames(sample);
	const struct process *process;
	int err = consumer->expect ? consumer->expect(consumer->context, sample) : 0;

	if (err)
		return err;
	process = intake_process_of(intake, sample);
	if (intake->unwinder && process)
		err = unwinder_runtime_sampled(intake->unwinder, process, sample);
	if (err)
		return err;
	if (record_is_unfinished(&sample->h) || intake_doubts(intake, process) ||
	    frame_words_addresses(&user) < user.count)
		return intake_take_unfinished(intake, process, sample);
	return intake_emit(intake, &sample->h);
}

static int take_program(struct intake *intake, const struct jitbpf_program *program)
{
	const struct process *process =
		process_table_find(intake->processes, program->pid, 0, program->h.time_ns);

	return process ? unwinder_program(intake->unwinder, process, program) : 0;
}

/* Take a record in order of time. */
static int take_in_order(void *context, const struct jitbpf_record *record)
{
	struct intake *intake = context;

	if (record->type == JITBPF_SAMPLE)
		return take_sample(intake, (const struct jitbpf_sample *)record);
	if (record_is_read_again(record))
		return intake_take_read_again(intake, record);
	if (record->type == JITBPF_MAPPING)
		return intake_take_mapping(intake, (const struct jitbpf_mapping *)record);
	if (record->type == JITBPF_CODE) {
		intake_unwind_code_copied(intake, (const struct jitbpf_code *)record);
		return 0;
	}
	if (record->type == JITBPF_PROGRAM)
		return take_program(intake, (const struct jitbpf_program *)record);
	if (record->type == JITBPF_CODE_EVENT)
		return intake_take_code_event(intake, (const struct jitbpf_code_event *)record);
	return intake_emit(intake, record);
}

static void count_waits(const struct waiting_samples *waiting, uint64_t *values)
{
	static const struct {
		enum jitbpf_counter all, late, ms;
	} of_stage[WAIT_STAGES] = {
		/* Late ones are counted as stacks that were cut. */
		[WAIT_WALK] = {JITBPF_COUNT_WAITS_ROWS, 0, JITBPF_COUNT_WAITS_ROWS_MS},
		[WAIT_LOADS] = {JITBPF_COUNT_WAITS_LOADS, JITBPF_COUNT_WAITS_LOADS_LATE,
				JITBPF_COUNT_WAITS_LOADS_MS},
		[WAIT_CHECKS] = {JITBPF_COUNT_WAITS_CHECKS, JITBPF_COUNT_WAITS_CHECKS_LATE,
				 JITBPF_COUNT_WAITS_CHECKS_MS},
		[WAIT_FUNCTIONS] = {JITBPF_COUNT_WAITS_FUNCTIONS, JITBPF_COUNT_WAITS_FUNCTIONS_LATE,
				    JITBPF_COUNT_WAITS_FUNCTIONS_MS},
		[WAIT_HOLD] = {JITBPF_COUNT_WAITS_ENDS, 0, JITBPF_COUNT_WAITS_ENDS_MS},
	};

	for (int i = 0; i < WAIT_STAGES; i++) {
		const struct wait_count *count = &waiting->counts[i];

		for (int end = 0; end < WAIT_ENDS; end++)
			values[of_stage[i].all] += count->ends[end];
		if (of_stage[i].late)
			values[of_stage[i].late] = count->ends[WAIT_LATE];
		values[of_stage[i].ms] = count->wait_ns / 1000000;
		values[JITBPF_COUNT_WAITS_OVER_SHARE] += count->ends[WAIT_OVER_SHARE];
	}
}

/* Emit the unwinder's counters as a second COUNTERS record; consumers add both up. */
static int emit_counters(struct intake *intake)
{
	struct {
		struct jitbpf_counters head;
		uint64_t values[JITBPF_COUNTER_MAX];
	} out = {.head.h = {
			 .size_bytes = sizeof(out),
			 .type = JITBPF_COUNTERS,
			 .time_ns = intake->round_ns,
		 }};
	struct unwinder_counts counts;

	if (!intake->unwinder)
		return 0;
	counts = unwinder_counts(intake->unwinder);
	out.values[JITBPF_COUNT_STACKS_FINISHED] = counts.finished;
	out.values[JITBPF_COUNT_STACKS_LATE] = intake->stacks_late;
	out.values[JITBPF_COUNT_UNWIND_CODE_UNREAD] = counts.code_unread;
	out.values[JITBPF_COUNT_UNWIND_EVICTED] = counts.evicted;
	out.values[JITBPF_COUNT_UNWIND_MAPPINGS_LEFT_OUT] = counts.mappings_left_out;
	out.values[JITBPF_COUNT_CODE_NOT_KEPT] = intake->kept.refused;
	out.values[JITBPF_COUNT_RUNTIME_FRAMES_UNKNOWN] = counts.functions_unknown;
	count_waits(&intake->waiting, out.values);
	return intake->consumer.take(intake->consumer.context, &out.head.h);
}

/* The last round: emit all waiting records. */
static int emit_rest(struct intake *intake)
{
	int err;

	intake->ending = true;
	err = shim_records_end_all(&intake->shim, intake->round_ns, &intake->round);
	err = err ?: shim_records_put_refusals(&intake->shim, &intake->round);
	err = err ?: round_buffer_drain(&intake->round, UINT64_MAX, take_in_order, intake);
	err = err
		      ?: event_budget_end_round(&intake->budget, intake->round_ns, true,
						emit_record, intake);
	return err ?: emit_counters(intake);
}

/*
 * Not in every round: a process that publishes without pause causes thousands of refusals in a
 * second.
 */
static int put_refusals(struct intake *intake, uint64_t time_ns)
{
	if (time_ns < intake->refusals_ns + INTAKE_REFUSALS_NS)
		return 0;
	intake->refusals_ns = time_ns;
	return shim_records_put_refusals(&intake->shim, &intake->round);
}

/*
 * time_ns is the start of the drain. Later records have come only from the rings that were drained
 * last, so they wait for the other rings' records of that time.
 */
static int end_round(struct intake *intake, uint64_t time_ns, bool last)
{
	int err = put_refusals(intake, time_ns), end_err;

	err = err ?: round_buffer_drain(&intake->round, time_ns, take_in_order, intake);
	err = err ?: event_budget_end_round(&intake->budget, time_ns, false, emit_record, intake);
	err = err
		      ?: code_room_end_round(&intake->room, intake->processes, time_ns, emit_record,
					     intake);
	intake->round_ns = time_ns;
	err = err ?: intake_complete_stacks(intake, time_ns, last);
	if (!err && last)
		err = emit_rest(intake);
	/* The consumer frees the leaving processes at the end of its round. */
	if (intake->unwinder)
		unwinder_forget_processes(intake->unwinder, intake->processes->leaving.data,
					  intake->processes->leaving.size);
	/* End the consumer's round also after an error: the records so far are valid. */
	end_err = intake->consumer.end_round(intake->consumer.context, time_ns);
	return err ?: end_err;
}

int intake_round(struct intake *intake, const struct source *source)
{
	uint64_t time_ns = intake->round_ns;
	int err = intake_take_answers(intake), state;

	if (err)
		return err;
	state = source->drain(source->context, take_from_source, intake, &time_ns);
	if (state != SOURCE_OPEN)
		err = end_round(intake, time_ns, state <= 0);
	return state < 0 ? state : (err ?: state);
}

bool intake_waits(const struct intake *intake)
{
	return waiting_samples_need_answers(&intake->waiting) ||
	       intake->round_ns < intake->soon_until_ns ||
	       (intake->unwinder && unwinder_runtimes_young(intake->unwinder));
}

bool intake_is_urgent(const struct intake *intake)
{
	return intake->unwinder && unwinder_runtimes_start(intake->unwinder);
}

void intake_renew_code(struct intake *intake)
{
	kept_code_renew(&intake->kept);
}

uint64_t intake_malformed(const struct intake *intake)
{
	return intake->malformed;
}
