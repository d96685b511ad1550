/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reports of JIT code changes to sinks. */
#include <stdint.h>

#include "sink/annotate/code_history.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_run.h"

/* One reported change. */
struct told {
	uint64_t time_ns, address, size_bytes;
	uint32_t process, pid, tid, method_id;
	char name[32]; /* "-": unloaded; "?": overwritten in the same round */
};

/* A sink that stores the reports in its "file". */
struct notes {
	struct told told[16];
	size_t count;
};

static int note(struct sink *sink, const struct view *view, const struct sink_code *code)
{
	struct notes *notes = (struct notes *)sink;
	struct told *told = &notes->told[notes->count++];

	made_require(notes->count <= ARRAY_SIZE(notes->told));
	*told = (struct told){
		.time_ns = code->time_ns,
		.address = code->address,
		.size_bytes = code->size_bytes,
		.process = code->process,
		.pid = code->pid,
		.tid = code->tid,
		.method_id = code->method_id,
	};
	assert_false(code->gone && code->region);
	strcpy(told->name, code->gone ? "-" : code->region ? code->region->name : "?");
	return 0;
}

static const struct sink_ops noting = {
	.name = "noting",
	.extension = ".noting",
	.create = made_sink_create,
	.code = note,
	.finish = made_sink_finish,
	.destroy = made_sink_destroy,
};

static void begin(struct made_run *run, struct notes *notes, const struct sample_filter *filter)
{
	*notes = (struct notes){0};
	made_run_begin(run, &(struct pipeline_options){.analysis.filter = filter});
	made_require(!pipeline_add_sink(run->pipeline, &noting, (FILE *)notes));
}

static struct made_run run;

/* Loads of two processes, an invalid load, and unloads by id and by address. */
static void make_events(void)
{
	struct jitbpf_jit_header *header;

	make_load(&run, 20, 0, "first");
	header = make_jit_of(&run, 30, 200, 5, 0, "other");
	header->address = MADE_CODE + 0x1000;
	make_load(&run, 40, 1, "empty")->code_bytes = 0;
	header = make_load(&run, 50, 2, "");
	header->event = 14;
	header->method_id = 1;
	header->address = header->code_bytes = 0;
	header = make_load(&run, 60, 3, "");
	header->event = 14;
	header->method_id = 0;
	make_load(&run, 70, 4, "")->event = 2; /* a shutdown is no change of code */
}

CASE(loads_and_unloads_are_told)
{
	struct notes notes;

	begin(&run, &notes, NULL);
	make_events();
	made_finish(&run, 100);
	assert_int_equal(notes.count, 4);
	assert_string_equal(notes.told[0].name, "first");
	assert_int_equal(notes.told[0].time_ns, 20);
	assert_int_equal(notes.told[0].pid, MADE_PID);
	assert_int_equal(notes.told[0].tid, MADE_PID);
	assert_int_equal(notes.told[0].address, MADE_CODE);
	assert_int_equal(notes.told[0].size_bytes, 0x100);
	assert_int_equal(notes.told[0].method_id, 1);
	assert_string_equal(notes.told[1].name, "other");
	assert_int_equal(notes.told[1].pid, 200);
	assert_int_not_equal(notes.told[1].process, notes.told[0].process);
	assert_string_equal(notes.told[2].name, "-");
	assert_int_equal(notes.told[2].method_id, 1);
	assert_int_equal(notes.told[3].time_ns, 60);
	assert_int_equal(notes.told[3].address, MADE_CODE);
	made_run_end(&run);
}

/* Two loads at one address in one round: both are reported, with their names. */
CASE(code_that_is_overwritten_was_there)
{
	struct notes notes;

	begin(&run, &notes, NULL);
	make_load(&run, 20, 0, "old");
	make_load(&run, 21, 1, "new");
	make_load(&run, 20, 2, "late")->address = MADE_CODE + 0x80;
	made_finish(&run, 100);
	assert_int_equal(notes.count, 3);
	assert_string_equal(notes.told[0].name, "old");
	assert_string_equal(notes.told[1].name, "late");
	assert_string_equal(notes.told[2].name, "new");
	made_run_end(&run);
}

CASE(filters_hold_for_code)
{
	static const uint32_t pids[] = {200}, tids[] = {200};
	const struct sample_filter filters[] = {
		{.pids = pids, .pid_count = 1},
		{.tids = tids, .tid_count = 1},
		{.from_ns = 21, .to_ns = 50},
	};

	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		struct notes notes;

		begin(&run, &notes, &filters[i]);
		make_events();
		made_finish(&run, 100);
		assert_int_equal(notes.count, 1);
		assert_string_equal(notes.told[0].name, "other");
		made_run_end(&run);
	}
}

static struct sink *begin_history(const struct sample_filter *filter)
{
	struct sink *history;

	made_run_begin(&run, &(struct pipeline_options){.analysis.filter = filter});
	made_require(!code_history_create(CODE_LIVES_MAX, &history));
	made_require(!pipeline_add_live(run.pipeline, &sink_code_history, history));
	return history;
}

static const struct code_life *life_of(const struct sink *history, const char *name)
{
	const struct code_lives *lives = code_history_lives(history);

	vec_for_each (life, &lives->lives) {
		if (!strcmp(string_pool_get(lives->strings, life->name), name))
			return life;
	}
	return NULL;
}

/* Code ends when it is overwritten or unloaded, when its process runs another program, or ends. */
CASE(each_end_of_code_is_known)
{
	struct sink *history = begin_history(NULL);
	struct jitbpf_jit_header *header;

	make_load(&run, 20, 0, "overwritten");
	make_load(&run, 25, 1, "unloaded")->address = MADE_CODE + 0x10;
	make_jit_of(&run, 30, 200, 5, 0, "exited")->address = MADE_CODE + 0x1000;
	make_jit_of(&run, 30, 300, 6, 0, "executed")->address = MADE_CODE + 0x1000;
	header = make_load(&run, 50, 2, "");
	header->event = 14;
	header->method_id = 2;
	header->address = header->code_bytes = 0;
	make_load(&run, 55, 3, "live")->address = MADE_CODE + 0x2000;
	make_task(&run, JITBPF_EXIT, 60, 200, 0);
	make_comm(&run, 70, 300, "other program", true);
	made_round(&run, 100);
	assert_int_equal(life_of(history, "overwritten")->loaded_ns, 20);
	assert_int_equal(life_of(history, "overwritten")->ended_ns, 25);
	assert_int_equal(life_of(history, "unloaded")->ended_ns, 50);
	assert_int_equal(life_of(history, "exited")->ended_ns, 60);
	assert_int_equal(life_of(history, "executed")->ended_ns, 70);
	assert_int_equal(life_of(history, "live")->ended_ns, UINT64_MAX);
	made_finish(&run, 110);
	made_run_end(&run);
}

CASE(filters_hold_for_lives)
{
	static const uint32_t pids[] = {200};
	const struct sample_filter filter = {.pids = pids, .pid_count = 1};
	struct sink *history = begin_history(&filter);

	make_events();
	made_round(&run, 100);
	assert_int_equal(code_history_lives(history)->lives.size, 1);
	assert_non_null(life_of(history, "other"));
	made_finish(&run, 110);
	made_run_end(&run);
}
