/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The counters of the pipeline: every sample has one fate, and all errors are counted. */
#include <stdint.h>

#include "pipeline/pipeline_state.h"
#include "pipeline/record/replay_source.h"
#include "sink/shown_profile.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_run.h"

#define SECOND 1000000000ull
#define LIB    0x700000 /* address of a mapped file */
#define NOBODY 0x900000

static int setup(void **state)
{
	struct made_run *run = malloc(sizeof(*run));

	made_require(run);
	made_run_begin(run, &(struct pipeline_options){0});
	make_mapping(run, 1, MADE_PID, LIB, "/lib/x.so");
	*state = run;
	return 0;
}

static struct jitbpf_sample *make_ended(struct made_run *run, uint64_t time_ns, uint64_t leaf,
					uint64_t caller, enum jitbpf_stack_end end)
{
	uint64_t words[] = {leaf, caller};
	struct jitbpf_sample *sample = make_sample_of(run, time_ns, MADE_PID, MADE_START, words, 2);

	sample->user_end = end;
	return sample;
}

/* Check that the sums agree, in total and per process. */
static void assert_sums(const struct ledger *ledger)
{
	uint64_t fate[FATE_COUNT] = {0}, cut = 0, row_cut = 0;

	vec_for_each (row, &ledger->processes) {
		for (int i = 0; i < FATE_COUNT; i++)
			fate[i] += row->samples.fate[i];
		for (int i = 0; i < LEDGER_CUT_COUNT; i++)
			row_cut += row->samples.cut[i];
	}
	for (int i = 0; i < FATE_COUNT; i++)
		assert_int_equal(fate[i], ledger->samples.fate[i]);
	for (int i = 0; i < LEDGER_CUT_COUNT; i++)
		cut += ledger->samples.cut[i];
	assert_int_equal(cut, ledger->samples.fate[FATE_STACK_CUT]);
	assert_int_equal(row_cut, cut);
	assert_int_equal(ledger_taken(ledger), ledger->counters[JITBPF_COUNT_SAMPLES_TAKEN]);
}

/* Returns the samples whose stacks are marked as cut. The mark is the outermost location. */
static uint64_t marked_samples(const struct made_run *run)
{
	const struct view *view = pipeline_view(run->pipeline);
	const struct profile_node *nodes = view->profile->nodes.data;
	uint64_t samples = 0;

	for (size_t i = 0; i < view->profile->nodes.size; i++) {
		uint32_t node = (uint32_t)i;

		for (; nodes[node].parent != PROFILE_NODE_NONE; node = nodes[node].parent) {
			if (view->locations->locations.data[nodes[node].location].kind !=
			    LOCATION_CUT)
				continue;
			assert_int_equal(nodes[nodes[node].parent].parent, PROFILE_NODE_NONE);
			samples += nodes[i].self;
		}
	}
	return samples;
}

CASE_WITH(test_fates, setup, made_run_teardown)
{
	struct made_run *run = *state;
	struct jitbpf_lost_samples *lost;
	const struct ledger *ledger;

	make_ended(run, 10, LIB, LIB + 9, JITBPF_END_ROOT);
	make_sample_of(run, 11, 2, 3, NULL, 0); /* an unknown kernel thread */
	make_ended(run, 12, LIB, LIB + 9, JITBPF_END_BAD_FRAME);
	make_ended(run, 13, LIB, LIB + 9, JITBPF_END_DEPTH);
	/* its caller is not mapped: the stack is cut there */
	make_ended(run, 14, LIB, NOBODY, JITBPF_END_ROOT);
	make_ended(run, 15, NOBODY, LIB, JITBPF_END_ROOT);
	/* unknown code takes precedence over a cut stack */
	make_ended(run, 16, NOBODY, LIB, JITBPF_END_DEPTH);
	make_mapping(run, 5, MADE_PID, MADE_CODE, "//anon");
	make_ended(run, 17, LIB, MADE_CODE + 9, JITBPF_END_ROOT);
	lost = make_record(run, JITBPF_LOST_SAMPLES, sizeof(*lost), 50);
	lost->pid = MADE_PID;
	lost->start_ns = MADE_START;
	lost->count = 4;
	lost = make_record(run, JITBPF_LOST_SAMPLES, sizeof(*lost), 50);
	lost->count = 2; /* of an unknown process */
	make_counters(run, 50, 14);
	ledger = made_finish(run, 100);
	assert_int_equal(ledger->samples.fate[FATE_RESOLVED], 2);
	assert_int_equal(ledger->samples.fate[FATE_CODE_UNKNOWN], 3);
	assert_int_equal(ledger->samples.fate[FATE_STACK_CUT], 3);
	assert_int_equal(ledger->samples.fate[FATE_LOST], 6);
	assert_int_equal(ledger->samples.cut[JITBPF_END_BAD_FRAME], 2);
	assert_int_equal(ledger->samples.cut[JITBPF_END_DEPTH], 1);
	/* Those that are cut, and those of unknown code whose caller is not mapped. */
	assert_int_equal(marked_samples(run), 5);
	assert_sums(ledger);
	assert_int_equal(pipeline_progress(run->pipeline).samples, 14);
	assert_int_equal(pipeline_progress(run->pipeline).code_unknown, 3);
}

/* Processes that come and go are freed; the ledger keeps what was counted of them. */
CASE_WITH(test_ended_processes_are_freed, setup, made_run_teardown)
{
	const uint64_t second = 1000000000;
	struct made_run *run = *state;
	struct process_table *processes = &run->pipeline->analysis->processes;
	struct jitbpf_lost_samples *lost;
	const struct ledger *ledger;
	uint64_t time_ns = 3 * second, ip = LIB;

	for (uint32_t i = 0; i < 1000; i++, time_ns += second) {
		uint32_t pid = 1000 + i % 300;

		make_task(run, JITBPF_FORK, time_ns, pid, MADE_PID);
		make_sample_of(run, time_ns + 1, pid, 5000 + i, &ip, 1);
		make_task(run, JITBPF_EXIT, time_ns + 2, pid, 0);
		made_round(run, time_ns + 10);
		run->seen_count = 0; /* they are more than it keeps */
		assert_true(processes->processes.size < 40);
	}
	/* Of one that was freed long ago, and one that still has its row only. */
	lost = make_record(run, JITBPF_LOST_SAMPLES, sizeof(*lost), time_ns);
	lost->pid = 1000;
	lost->start_ns = 5000;
	lost->count = 3;
	ledger = made_finish(run, time_ns + 20);
	assert_int_equal(ledger_taken(ledger), 1003);
	assert_int_equal(ledger->processes.size, 1000);
	for (size_t i = 0; i < ledger->processes.size; i++) {
		assert_int_equal(ledger->processes.data[i].pid, 1000 + i % 300);
		assert_int_equal(ledger->processes.data[i].start_ns, 5000 + i);
		assert_int_equal(ledger->processes.data[i].samples.fate[FATE_LOST], i ? 0 : 3);
	}
}

/* If all samples are the same, the stack cache counts the same fates as the look-up. */
CASE_WITH(test_fates_of_the_cache, setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	for (uint64_t i = 0; i < 20; i++) {
		make_ended(run, 10 + i, LIB, NOBODY, JITBPF_END_ROOT);
		make_ended(run, 10 + i, NOBODY, LIB, JITBPF_END_ROOT);
		make_ended(run, 10 + i, LIB, LIB + 9, JITBPF_END_ROOT);
		make_ended(run, 10 + i, LIB, LIB + 9, JITBPF_END_UNREADABLE);
	}
	make_counters(run, 50, 80);
	ledger = made_finish(run, 100);
	assert_int_equal(ledger->samples.fate[FATE_RESOLVED], 20);
	assert_int_equal(ledger->samples.fate[FATE_CODE_UNKNOWN], 20);
	assert_int_equal(ledger->samples.cut[JITBPF_END_BAD_FRAME], 20);
	assert_int_equal(ledger->samples.cut[JITBPF_END_UNREADABLE], 20);
	assert_sums(ledger);
}

/*
 * A process that knows the hash can create colliding stacks: this address
 * cancels the hash of all addresses before it. The shorter stack must not be
 * read beyond its end.
 */
CASE_WITH(test_stacks_that_collide, setup, made_run_teardown)
{
	struct made_run *run = *state;
	uint64_t words[80], collide = 0xe7037ed1a0b428dbull;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = LIB + i;
	words[ARRAY_SIZE(words) - 1] = collide;
	make_sample_of(run, 10, MADE_PID, MADE_START, words, ARRAY_SIZE(words));
	words[1] = collide;
	make_sample_of(run, 20, MADE_PID, MADE_START, words, 2);
	make_record(run, JITBPF_THROTTLE, sizeof(struct jitbpf_throttle), 30);
	made_round(run, 100);
	assert_int_equal(run->seen[0].user_frames, ARRAY_SIZE(words) - 1);
	assert_int_equal(run->seen[1].user_frames, 1);
}

CASE_WITH(test_kernel_frames_are_no_user_frames, setup, made_run_teardown)
{
	struct made_run *run = *state;
	uint64_t words[] = {LIB, LIB + 1};

	make_sample_of(run, 10, MADE_PID, MADE_START, words, 2);
	make_sample_of(run, 20, MADE_PID, MADE_START, words, 2)->kernel_words = 1;
	((struct jitbpf_sample *)run->records[run->record_count - 1])->user_words = 1;
	made_round(run, 100);
	assert_int_equal(run->seen[0].kind, LOCATION_NATIVE);
	assert_int_equal(run->seen[1].kind, LOCATION_KERNEL);
	assert_int_equal(run->seen[1].kernel_frames, 1);
	assert_int_equal(run->seen[1].user_frames, 1);
}

/* Invalid records of a source are counted, and the others are processed. */
CASE_WITH(test_malformed_records, setup, made_run_teardown)
{
	struct made_run *run = *state;
	struct jitbpf_kernel_symbol *symbol;
	const struct ledger *ledger;

	make_sample(run, 10, LIB)->user_words = 100;
	make_mapping(run, 11, MADE_PID, LIB, "/x")->size_bytes = 0;
	((struct jitbpf_throttle *)make_record(run, JITBPF_THROTTLE, sizeof(struct jitbpf_throttle),
					       12))
		->cpu = UINT32_MAX;
	symbol = make_record(run, JITBPF_KERNEL_SYMBOL, sizeof(*symbol) + 8, 13);
	symbol->address = UINT64_MAX - 8;
	symbol->size_bytes = 64;
	make_sample(run, 20, LIB);
	make_counters(run, 50, 1);
	ledger = made_finish(run, 100);
	assert_int_equal(ledger->malformed_records, 4);
	assert_int_equal(ledger->samples.fate[FATE_RESOLVED], 1);
	assert_sums(ledger);
}

static struct jitbpf_kernel_symbol *make_symbol(struct made_run *run, uint64_t time_ns,
						const char *name, uint16_t flags)
{
	struct jitbpf_kernel_symbol *symbol =
		make_record(run, JITBPF_KERNEL_SYMBOL, sizeof(*symbol) + strlen(name) + 1, time_ns);

	symbol->h.flags = flags;
	symbol->address = 0xffffffffc0000000;
	symbol->size_bytes = 64;
	strcpy(symbol->name, name);
	return symbol;
}

static void make_kernel_sample(struct made_run *run, uint64_t time_ns)
{
	struct jitbpf_sample *sample = make_sample(run, time_ns, 0xffffffffc0000010);

	sample->kernel_words = 1;
	sample->user_words = 0;
	sample->user_end = JITBPF_END_NONE;
}

CASE_WITH(test_kernel_code_comes_and_goes, setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_kernel_sample(run, 10);
	make_symbol(run, 20, "bpf_prog_a", 0);
	make_kernel_sample(run, 25);
	make_kernel_sample(run, 26);
	make_symbol(run, 30, "bpf_prog_a", JITBPF_KERNEL_SYMBOL_GONE);
	make_kernel_sample(run, 35);
	make_symbol(run, 36, "never seen", JITBPF_KERNEL_SYMBOL_GONE)->address += 4096;
	made_round(run, 100);
	make_kernel_sample(run, 27);
	made_round(run, 200);
	assert_int_equal(run->seen[0].kind, LOCATION_KERNEL);
	assert_int_equal(run->seen[1].kind, LOCATION_KERNEL_CODE);
	assert_int_equal(run->seen[1].offset, 0x10);
	assert_int_equal(run->seen[2].kind, LOCATION_KERNEL_CODE);
	assert_int_equal(run->seen[3].kind, LOCATION_KERNEL);
	assert_int_equal(run->seen[4].kind, LOCATION_KERNEL_CODE);
}

static void make_throttle(struct made_run *run, uint64_t time_ns, uint32_t cpu, uint16_t flags)
{
	struct jitbpf_throttle *throttle =
		make_record(run, JITBPF_THROTTLE, sizeof(*throttle), time_ns);

	throttle->cpu = cpu;
	throttle->h.flags = flags;
}

CASE_WITH(test_throttling, setup, made_run_teardown)
{
	struct made_run *run = *state;
	struct run_info info = {
		.start_ns = 5, .event = "", .command = "", .host = "", .kernel = ""};
	const struct ledger *ledger;

	assert_int_equal(pipeline_set_info(run->pipeline, &info), 0);
	make_throttle(run, 10, 0, 0);
	make_throttle(run, 20, 3, 0);
	make_throttle(run, 25, 0, JITBPF_THROTTLE_END);
	make_throttle(run, 26, 1, JITBPF_THROTTLE_END); /* started before the recording */
	made_round(run, 100);
	make_throttle(run, 30, 0, 0);
	made_round(run, 101);
	make_throttle(run, 28, 0, JITBPF_THROTTLE_END); /* ends before its start: no duration */
	ledger = made_finish(run, 120);
	assert_int_equal(ledger->throttles, 3);
	assert_int_equal(ledger->throttled_ns, 15 + 100); /* on the third CPU: until the end */
}

/* A process known by a sample only, and one with two names. */
CASE_WITH(test_names_of_processes, setup, made_run_teardown)
{
	struct made_run *run = *state;
	uint64_t ip = LIB;

	make_sample(run, 10, LIB);
	make_comm(run, 20, MADE_PID, "first", false);
	make_sample(run, 25, LIB);
	make_comm(run, 30, MADE_PID, "second", false);
	make_sample(run, 35, LIB);
	make_sample_of(run, 36, 7, 8, &ip, 1);
	made_round(run, 100);
	assert_string_equal(run->seen[0].comm, "thread");
	assert_string_equal(run->seen[1].comm, "first");
	assert_string_equal(run->seen[2].comm, "second");
	assert_string_equal(run->seen[3].comm, "thread");
}

/* Hidden kernel frames are in the profile: only what reads it hides them. */
CASE(test_hidden_kernel_frames)
{
	const struct view_options options = {.kernel = VIEW_KERNEL_HIDDEN, .by = VIEW_BY_TID};
	const uint64_t words[] = {0xffffffff81000010, 0xffffffff81000021, LIB};
	struct made_run run;
	struct jitbpf_sample *sample;
	const struct ledger *ledger;
	const struct view *view;

	made_run_begin(&run, &(struct pipeline_options){.analysis.view = &options});
	make_mapping(&run, 5, MADE_PID, LIB, "/lib/x.so");
	for (uint16_t user = 0; user < 2; user++) {
		sample = make_sample_of(&run, 10 + user, MADE_PID, MADE_START, words, 2 + user);
		sample->kernel_words = 2;
		sample->user_words = user;
		sample->user_end = user ? JITBPF_END_ROOT : JITBPF_END_NONE;
	}
	ledger = made_finish(&run, 100);
	assert_int_equal(ledger->samples.fate[FATE_RESOLVED], 2);
	view = pipeline_view(run.pipeline);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t node = view->threads->counts.data[i].node, shown;

		assert_int_equal(run.seen[i].kind, LOCATION_KERNEL);
		assert_int_equal(run.seen[i].kernel_frames, 2);
		assert_int_equal(view->profile->nodes.data[node].self, 1);
		assert_true(shown_profile_hides(view, node));
		shown = shown_profile_node(view, node);
		assert_false(shown_profile_hides(view, shown));
		/* The process itself, or the user frame. */
		assert_true((view->profile->nodes.data[shown].parent == PROFILE_NODE_NONE) == !i);
	}
	assert_int_equal(view->locations->locations.size, 3);
	assert_int_equal(view->threads->counts.size, 2);
	made_run_end(&run);
}

static int no_request(void *context, uint64_t ticket, const struct location *what,
		      const struct module *module)
{
	return 0;
}

static int no_answers(void *context, bool wait, symbol_taker_fn take, void *take_context)
{
	return 0;
}

static struct symbolizer_counts some_counts(void *context)
{
	return (struct symbolizer_counts){.debug_refused = 2, .debug_dropped = 300};
}

/* Problems of naming are in the ledger, and in that of a later report of the recording. */
CASE_WITH(test_trouble_of_naming, setup, made_run_teardown)
{
	const struct symbol_service symbols = {
		.request = no_request, .collect = no_answers, .counts = some_counts};
	const struct run_info info = {.event = "", .command = "", .host = "", .kernel = ""};
	struct made_run *replayed = *state;
	CLEANUP(made_run_end) struct made_run run;
	struct recording_error error;
	struct recording_reader *reader;
	struct replay_source played;
	struct recorder *recorder;
	AUTO_FREE char *bytes = NULL;
	const struct ledger *ledger;
	struct blob blob;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);

	made_run_begin(&run, &(struct pipeline_options){.analysis.symbols = &symbols});
	assert_int_equal(recorder_create(out, &info, &recorder), 0);
	ledger = made_finish(&run, 100);
	assert_int_equal(ledger->counters[JITBPF_COUNT_DEBUG_REFUSED], 2);
	assert_int_equal(recorder_finish(recorder, pipeline_view(run.pipeline),
					 pipeline_modules(run.pipeline)),
			 0);
	recorder_destroy(recorder);
	fclose(out);

	blob = blob_of_memory(bytes, size);
	assert_int_equal(recording_reader_open(&blob, &reader, &error), 0);
	replay_source_init(&played, reader, &replayed->source);
	while (pipeline_round(replayed->pipeline, &replayed->source, NULL) > 0)
		;
	recording_reader_close(reader);
	assert_int_equal(pipeline_finish(replayed->pipeline), 0);
	ledger = pipeline_view(replayed->pipeline)->ledger;
	assert_int_equal(ledger->counters[JITBPF_COUNT_DEBUG_REFUSED], 2);
	assert_int_equal(ledger->counters[JITBPF_COUNT_DEBUG_DROPPED], 300);
	assert_int_equal(ledger->malformed_records, 0);
}

/* A profile may be empty. */
CASE_WITH(test_no_samples, setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger = made_finish(run, 100);

	assert_int_equal(ledger_taken(ledger), 0);
	assert_sums(ledger);
	assert_int_equal(pipeline_write(run->pipeline, (FILE *)run), 0);
}
