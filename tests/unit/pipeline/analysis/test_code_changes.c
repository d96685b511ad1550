/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reports of JIT code changes to sinks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

static void loads_and_unloads_are_told(void **state)
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
static void code_that_is_overwritten_was_there(void **state)
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

static void filters_hold_for_code(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_and_unloads_are_told),
		cmocka_unit_test(code_that_is_overwritten_was_there),
		cmocka_unit_test(filters_hold_for_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
