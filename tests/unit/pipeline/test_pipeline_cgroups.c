/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A sample counts for the cgroup that its process had then, live, replayed and after a rotation. */
#include <stdint.h>

#include "pipeline/pipeline_state.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_replay.h"
#include "tests/unit/pipeline/made_run.h"

#define A16 "aaaaaaaaaaaaaaaa"
#define A   A16 A16 A16 A16

static const struct run_info info = {.start_ns = 500,
				     .freq_hz = 99,
				     .cpus = 2,
				     .event = "",
				     .command = "",
				     .host = "",
				     .kernel = ""};

/* Samples in a unit, in a container, in a removed cgroup, in the root, and one that is late. */
static void add_records(struct made_run *run, uint64_t base_ns)
{
	make_cgroup(run, base_ns, 10, "/system.slice/cron.service", "");
	make_move(run, base_ns, MADE_PID, 10);
	make_comm(run, base_ns, MADE_PID, "php", false);
	make_sample(run, base_ns + 1, 0x10);
	make_cgroup(run, base_ns + 2, 11, "/system.slice/docker-" A ".scope", "web");
	make_move(run, base_ns + 2, MADE_PID, 11);
	make_sample(run, base_ns + 2, 0x10);
	make_sample(run, base_ns + 3, 0x10);
	make_move(run, base_ns + 4, MADE_PID, 12);
	make_sample(run, base_ns + 5, 0x10);
	make_cgroup(run, base_ns + 6, 1, "/", "");
	make_move(run, base_ns + 6, MADE_PID, 1);
	make_sample(run, base_ns + 7, 0x10);
}

#define FRAMES ";php;[unknown] "

static const char expected[] =
	"[unknown cgroup]" FRAMES "1\ncron.service" FRAMES "2\nhost" FRAMES "1\nweb" FRAMES "2\n";

static void assert_folded(const struct view *view, const char *wanted)
{
	struct view by = *view;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct sink *sink;

	by.options.by = VIEW_BY_CONTAINER;
	made_require(out && !sink_folded.create(out, &sink));
	assert_int_equal(sink_folded.finish(sink, &by), 0);
	sink_folded.destroy(sink);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

static void assert_replay(const char *bytes, size_t size, const char *container, const char *wanted)
{
	const struct sample_filter filter = {.containers = &container, .container_count = 1};
	const struct pipeline_options options = {.analysis.filter = container ? &filter : NULL};
	struct pipeline *pipeline;

	assert_int_equal(pipeline_create(&options, &pipeline), 0);
	made_replay(pipeline, bytes, size);
	assert_folded(pipeline_view(pipeline), wanted);
	pipeline_destroy(pipeline);
}

CASE(test_samples_have_their_cgroup)
{
	struct recorder *recorder;
	struct made_run run;
	char *bytes = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&bytes, &size);

	made_run_begin(&run, &(struct pipeline_options){0});
	assert_int_equal(pipeline_set_info(run.pipeline, &info), 0);
	made_require(file && !recorder_create(file, &info, &recorder));
	add_records(&run, 1000);
	run.state = SOURCE_ROUND;
	run.round_ns = 2000;
	assert_int_equal(pipeline_round(run.pipeline, &run.source, recorder), SOURCE_ROUND);
	make_sample(&run, 1001, 0x10); /* it comes a round late */
	run.state = SOURCE_END;
	run.round_ns = 3000;
	assert_int_equal(pipeline_round(run.pipeline, &run.source, recorder), SOURCE_END);
	assert_int_equal(pipeline_finish(run.pipeline), 0);
	assert_folded(pipeline_view(run.pipeline), expected);
	assert_int_equal(recorder_finish(recorder, pipeline_view(run.pipeline),
					 pipeline_modules(run.pipeline)),
			 0);
	recorder_destroy(recorder);
	fclose(file);
	made_run_end(&run);
	assert_replay(bytes, size, NULL, expected);
	assert_replay(bytes, size, "web", "web" FRAMES "2\n");
	assert_replay(bytes, size, "aaaa", "web" FRAMES "2\n");
	assert_replay(bytes, size, "cron", "cron.service" FRAMES "2\n");
	assert_replay(bytes, size, "host", "host" FRAMES "1\n");
	assert_replay(bytes, size, "none", "");
	free(bytes);
}

/* A child is in the cgroup that its parent had at the fork. */
CASE_WITH(test_children_inherit, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_cgroup(run, 1000, 10, "/a.service", "");
	make_move(run, 1000, MADE_PID, 10);
	make_task(run, JITBPF_FORK, 1001, MADE_PID + 1, MADE_PID);
	make_move(run, 1002, MADE_PID, 1);
	make_sample_of(run, 1003, MADE_PID + 1, 0, (const uint64_t[]){0x10}, 1);
	make_sample_of(run, 1003, MADE_PID, 0, (const uint64_t[]){0x10}, 1);
	made_round(run, 2000);
	made_finish(run, 3000);
	assert_int_equal(run->seen_count, 2);
	assert_string_equal(run->seen[0].cgroup, "a.service");
	assert_string_equal(run->seen[1].cgroup, CGROUP_TEXT_UNKNOWN);
	assert_string_equal(
		string_pool_get(pipeline_view(run->pipeline)->strings,
				pipeline_view(run->pipeline)->ledger->processes.data[0].unit),
		"a.service");
}
