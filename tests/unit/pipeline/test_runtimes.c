/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of runtimes, and what is known of the runtimes, in a run that is recorded in parts. */
#include "engines/engines.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/recorded_parts.h"

#define RUNTIME(n) ((uint64_t)JITBPF_FRAME_RUNTIME << JITBPF_FRAME_KIND_SHIFT | (n))

static struct jitbpf_runtime_function *make_function(struct made_run *run, uint64_t time_ns,
						     uint64_t number, const char *name)
{
	struct jitbpf_runtime_function *function =
		make_record(run, JITBPF_RUNTIME_FUNCTION,
			    sizeof(*function) + strlen(name) + 1 + sizeof("/f.py"), time_ns);

	function->number = number;
	function->pid = MADE_PID;
	function->name_bytes = (uint32_t)strlen(name) + 1;
	function->file_bytes = sizeof("/f.py");
	strcpy(function->runtime, "CPython");
	strcpy(function->strings, name);
	strcpy(function->strings + function->name_bytes, "/f.py");
	return function;
}

static void make_runtime(struct made_run *run, uint64_t time_ns, uint32_t status)
{
	struct jitbpf_runtime *runtime =
		make_record(run, JITBPF_RUNTIME, sizeof(*runtime), time_ns);

	runtime->pid = MADE_PID;
	runtime->start_ns = MADE_START;
	runtime->status = status;
	runtime->version[0] = 3;
	runtime->version[1] = 11;
	strcpy(runtime->name, "CPython");
}

static struct jitbpf_sample *make_call(struct made_run *run, uint64_t time_ns, uint64_t number)
{
	const uint64_t words[] = {RUNTIME(number), 12};

	return make_sample_of(run, time_ns, MADE_PID, MADE_START, words, 2);
}

/* Check a replay: one sample with a function, whose name and runtime the file itself has. */
static void assert_part(const struct part *part)
{
	static struct made_run replayed;
	struct pipeline *pipeline;
	const struct view *view;
	const struct ledger_process *row;
	const struct frame *frame = NULL;
	uint32_t count;

	replayed = (struct made_run){0};
	pipeline = replay_whole(part, &replayed);
	view = pipeline_view(pipeline);
	assert_int_equal(replayed.seen_count, 1);
	assert_int_equal(replayed.seen[0].kind, LOCATION_RUNTIME);
	assert_int_equal(replayed.seen[0].offset, 12);
	assert_int_equal(view->ledger->malformed_records, 0);
	assert_int_equal(view->ledger->samples.fate[FATE_CODE_UNKNOWN], 0);
	assert_int_equal(view->ledger->samples.runtime_functions, 1);
	row = &view->ledger->processes.data[0];
	assert_int_equal(row->samples.runtime_functions, 1);
	assert_int_equal(engine_runtime_status(row->runtimes[0]), JITBPF_RUNTIME_SHOWN);
	assert_string_equal(engine_of_runtime_number(row->runtimes[0]).engine->name, "CPython");
	for (uint32_t i = 0; i < view->locations->locations.size && !frame; i++)
		frame = frame_table_get(view->frames, i, &count);
	assert_non_null(frame);
	assert_string_equal(string_pool_get(view->strings, frame->name), "f");
	assert_string_equal(string_pool_get(view->strings, frame->file), "/f.py");
	assert_int_equal(frame->line, 12);
	assert_int_equal(frame->kind, FRAME_KIND_PYTHON);
	pipeline_destroy(pipeline);
	free(part->bytes);
}

/* Each file of a run that rotates has the functions of its own samples, and the runtimes. */
CASE(each_part_replays_alone)
{
	static struct made_run run;
	struct parts parts = {0};
	struct ledger live = {0};

	begin_run(&run, &parts, &(struct pipeline_options){0});
	run.source.finished = true;
	make_runtime(&run, 600, JITBPF_RUNTIME_STARTING);
	make_runtime(&run, 601, JITBPF_RUNTIME_SHOWN);
	make_function(&run, 602, 7, "f");
	make_function(&run, 603, 8, "has no sample");
	make_call(&run, 610, 7);
	assert_int_equal(recorded_round(&run, &parts, SOURCE_ROUND, 700), SOURCE_ROUND);
	rotate(&run, &parts);
	make_call(&run, 800, 7);
	end_run(&run, &parts, 900, &live);
	made_run_end(&run);
	assert_int_equal(live.samples.fate[FATE_RESOLVED], 2);
	assert_part(&parts.all[0]);
	assert_part(&parts.all[1]);
}

/* A number stays that of its first function; another one is a malformed record. */
CASE_WITH(a_number_is_one_function, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	run->source.finished = true;
	make_function(run, 1, 7, "f");
	make_function(run, 2, 7, "f");
	make_function(run, 3, 7, "g");
	make_call(run, 10, 7);
	make_call(run, 11, 9);
	make_call(run, 12, 7)->h.flags = JITBPF_SAMPLE_RUNTIME_CUT;
	ledger = made_finish(run, 100);
	assert_int_equal(ledger->malformed_records, 1);
	assert_int_equal(ledger->samples.runtime_functions, 2);
	assert_int_equal(ledger->samples.runtime_cut, 1);
	assert_int_equal(ledger->samples.fate[FATE_CODE_UNKNOWN], 1);
}
