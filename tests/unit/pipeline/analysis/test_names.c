/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When locations are named: as they are first seen, and as the symbol service answers. */
#include <stdint.h>

#include "decode/recording/recording_reader.h"
#include "pipeline/record/replay_source.h"
#include "sink/frame_text.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_run.h"

#define LIB    0x700000
#define KERNEL 0xffffffff81000010ull
#define BPF    0xffffffffc0001000ull

/* A symbol service that answers when it is told to. */
static struct {
	struct {
		uint64_t ticket;
		struct location what;
	} requests[16];
	size_t requested, answered, may_answer;
} service;

static int request(void *context, uint64_t ticket, const struct location *what,
		   const struct module *module)
{
	assert_true(service.requested < ARRAY_SIZE(service.requests));
	assert_int_equal(what->kind == LOCATION_NATIVE, module != NULL);
	service.requests[service.requested].ticket = ticket;
	service.requests[service.requested++].what = *what;
	return 0;
}

static int collect(void *context, bool wait, symbol_taker_fn take, void *take_context)
{
	size_t end = wait ? service.requested : service.may_answer;

	for (; service.answered < end; service.answered++) {
		struct symbol_frame frames[] = {
			{.name = "inlined", .module = "/lib/x.so", .inlined = true},
			{.name = "function", .module = "/lib/x.so"},
		};
		int err = take(take_context, service.requests[service.answered].ticket, frames, 2);

		if (err)
			return err;
	}
	return 0;
}

static const struct symbol_service symbols = {.request = request, .collect = collect};

static struct made_run run;

/* The innermost frame of the only location of a kind, as "name module count". */
static const char *shown(enum location_kind kind)
{
	static char text[128];
	const struct view *view = pipeline_view(run.pipeline);
	struct frame_text frame;

	for (uint32_t i = 0; i < view->locations->locations.size; i++) {
		if (view->locations->locations.data[i].kind != kind)
			continue;
		frame_text_get(view, i, 0, &frame);
		snprintf(text, sizeof(text), "%s %s %u", frame.name, frame.module,
			 frame_text_count(view, i));
		return text;
	}
	return "";
}

/* A sample in JIT code, called by a file, and one in the kernel's code. */
static void make_samples(uint64_t time_ns)
{
	const uint64_t user[] = {MADE_CODE + 0x10, LIB + 0x20};
	const uint64_t kernel[] = {BPF + 0x10, KERNEL};
	struct jitbpf_sample *sample;

	make_sample_of(&run, time_ns, MADE_PID, MADE_START, user, 2);
	sample = make_sample_of(&run, time_ns + 1, MADE_PID, MADE_START, kernel, 2);
	sample->kernel_words = 2;
	sample->user_words = 0;
	sample->user_end = JITBPF_END_NONE;
}

/* Begin a run, without the end of its first round. */
static void begin_records(const struct symbol_service *with)
{
	struct jitbpf_kernel_symbol *symbol;

	memset(&service, 0, sizeof(service));
	made_run_begin(&run, &(struct pipeline_options){.analysis.symbols = with});
	make_mapping(&run, 5, MADE_PID, LIB, "/lib/x.so");
	make_load(&run, 6, 0, "method");
	symbol = make_record(&run, JITBPF_KERNEL_SYMBOL, sizeof(*symbol) + sizeof("bpf_prog_1"), 7);
	symbol->address = BPF;
	symbol->size_bytes = 0x100;
	strcpy(symbol->name, "bpf_prog_1");
}

static void begin(const struct symbol_service *with)
{
	begin_records(with);
	made_round(&run, 9);
}

CASE(locations_are_named_as_they_are_seen)
{
	begin(&symbols);
	make_samples(10);
	made_round(&run, 20);
	assert_string_equal(shown(LOCATION_JIT), "method [jit] 1");
	assert_string_equal(shown(LOCATION_KERNEL_CODE), "bpf_prog_1 [bpf] 1");
	/* These are requested; until the answer, their file stands in. */
	assert_int_equal(service.requested, 2);
	assert_string_equal(shown(LOCATION_NATIVE), "[x.so] /lib/x.so 1");
	assert_string_equal(shown(LOCATION_KERNEL), "[unknown] [kernel.kallsyms] 1");
	service.may_answer = 2;
	made_round(&run, 30);
	assert_string_equal(shown(LOCATION_NATIVE), "inlined /lib/x.so 2");
	assert_string_equal(shown(LOCATION_KERNEL), "inlined /lib/x.so 2");
	/* Seen again, nothing is requested again. */
	make_samples(31);
	made_round(&run, 40);
	assert_int_equal(service.requested, 2);
	made_finish(&run, 50);
	assert_string_equal(shown(LOCATION_JIT), "method [jit] 1");
	made_run_end(&run);
}

/* The method that a place had when it was sampled, though another is there now. */
CASE(a_name_stays_when_its_code_is_replaced)
{
	begin(NULL);
	make_samples(10);
	make_load(&run, 15, 1, "newer");
	made_round(&run, 20);
	assert_string_equal(shown(LOCATION_JIT), "method [jit] 1");
	made_finish(&run, 30);
	assert_string_equal(shown(LOCATION_JIT), "method [jit] 1");
	made_run_end(&run);
}

/* At the end, the service is waited for; without one, the stand-ins stay. */
CASE(at_the_end_names_are_complete)
{
	begin(&symbols);
	make_samples(10);
	made_finish(&run, 20);
	assert_string_equal(shown(LOCATION_NATIVE), "inlined /lib/x.so 2");
	made_run_end(&run);
	begin(NULL);
	make_samples(10);
	made_finish(&run, 20);
	assert_string_equal(shown(LOCATION_NATIVE), "[x.so] /lib/x.so 1");
	assert_string_equal(shown(LOCATION_KERNEL), "[unknown] [kernel.kallsyms] 1");
	made_run_end(&run);
}

/* --- rotation ------------------------------------------------------------------------- */

/* The recording of an epoch, in memory. */
struct part {
	char *bytes;
	size_t size;
	FILE *file;
	struct recorder *recorder;
};

static void begin_part(struct part *part, uint64_t start_ns)
{
	struct run_info info = {
		.start_ns = start_ns, .event = "", .command = "", .host = "", .kernel = ""};

	part->file = open_memstream(&part->bytes, &part->size);
	assert_int_equal(recorder_create(part->file, &info, &part->recorder), 0);
}

static void end_part(struct part *part)
{
	recorder_destroy(part->recorder);
	fclose(part->file);
	free(part->bytes);
}

static void recorded_round(struct part *part, uint64_t time_ns)
{
	run.state = SOURCE_ROUND;
	run.round_ns = time_ns;
	assert_int_equal(pipeline_round(run.pipeline, &run.source, part->recorder), SOURCE_ROUND);
}

static void rotate(struct part *from, struct part *to, uint64_t time_ns)
{
	struct run_info info = {
		.start_ns = time_ns, .event = "", .command = "", .host = "", .kernel = ""};

	begin_part(to, time_ns);
	assert_int_equal(pipeline_rotate(run.pipeline, from->recorder, to->recorder, &info), 0);
}

/* Files are the same in the next epoch, and their names; a kernel module can be another. */
CASE(names_are_taken_over)
{
	struct part first, second;

	begin_records(&symbols);
	begin_part(&first, 1);
	recorded_round(&first, 9);
	make_samples(10);
	recorded_round(&first, 20);
	service.may_answer = 2;
	recorded_round(&first, 30);
	rotate(&first, &second, 30);
	make_samples(31);
	recorded_round(&second, 40);
	assert_string_equal(shown(LOCATION_NATIVE), "inlined /lib/x.so 2");
	assert_int_equal(service.requested, 3);
	assert_int_equal(service.requests[2].what.kind, LOCATION_KERNEL);
	service.may_answer = 3;
	recorded_round(&second, 50);
	assert_string_equal(shown(LOCATION_KERNEL), "inlined /lib/x.so 2");
	made_finish(&run, 60);
	made_run_end(&run);
	end_part(&first);
	end_part(&second);
}

/* Replay a part and compare what it shows and counts. */
static void check_replay(const struct part *part, const char *native, uint64_t late)
{
	struct blob blob = blob_of_memory(part->bytes, part->size);
	struct pipeline *recorded = run.pipeline;
	struct recording_reader *reader;
	struct recording_error error;
	struct replay_source replayed;
	struct source source;

	assert_int_equal(pipeline_create(&(struct pipeline_options){0}, &run.pipeline), 0);
	assert_int_equal(recording_reader_open(&blob, &reader, &error), 0);
	replay_source_init(&replayed, reader, &source);
	while (pipeline_round(run.pipeline, &source, NULL) > 0)
		;
	assert_int_equal(pipeline_finish(run.pipeline), 0);
	assert_string_equal(shown(LOCATION_NATIVE), native);
	assert_int_equal(pipeline_view(run.pipeline)->ledger->counters[JITBPF_COUNT_NAMES_LATE],
			 late);
	recording_reader_close(reader);
	pipeline_destroy(run.pipeline);
	run.pipeline = recorded;
}

/* A recording is complete after ANALYSIS_CLOSE_NS. It says how many names it lacks. */
CASE(names_that_are_late_are_counted)
{
	uint64_t time_ns = 20 + ANALYSIS_CLOSE_NS;
	struct pipeline_epoch epoch;
	struct part first, second;

	begin_records(&symbols);
	begin_part(&first, 1);
	recorded_round(&first, 9);
	make_samples(10);
	recorded_round(&first, 20);
	rotate(&first, &second, 20);
	recorded_round(&second, time_ns);
	assert_int_equal(pipeline_complete_epoch(run.pipeline, false, &epoch), 0);
	recorded_round(&second, ++time_ns);
	assert_int_equal(pipeline_complete_epoch(run.pipeline, false, &epoch), 1);
	assert_int_equal(
		recorder_finish(first.recorder, epoch.view, pipeline_modules(run.pipeline)), 0);
	pipeline_drop_epoch(run.pipeline);
	check_replay(&first, "[x.so] /lib/x.so 1", 2);
	/* They come now: nobody has use for them, and the next epoch requests its own. */
	service.may_answer = 2;
	make_samples(++time_ns);
	recorded_round(&second, time_ns += 10);
	assert_int_equal(service.requested, 4);
	assert_string_equal(shown(LOCATION_NATIVE), "[x.so] /lib/x.so 1");
	service.may_answer = 4;
	recorded_round(&second, ++time_ns);
	assert_string_equal(shown(LOCATION_NATIVE), "inlined /lib/x.so 2");
	made_finish(&run, ++time_ns);
	assert_int_equal(recorder_finish(second.recorder, pipeline_view(run.pipeline),
					 pipeline_modules(run.pipeline)),
			 0);
	check_replay(&second, "inlined /lib/x.so 2", 0);
	made_run_end(&run);
	end_part(&first);
	end_part(&second);
}

/* Adds a method of 0x100 bytes that is inlined into another. */
static void make_inline(uint64_t time_ns, uint64_t sequence, uint32_t parent_id, const char *name)
{
	struct jitbpf_jit_header *header = make_load(&run, time_ns, sequence, name);

	header->event = JIT_EVENT_INLINE_LOAD;
	header->parent_id = parent_id;
}

/* Names of many levels at one place are read up to a limit, so that they cannot stop the loop. */
CASE(long_names_of_one_place_are_bounded)
{
	enum { LEVELS = 20, BYTES = 40000 };
	const struct view *view;
	struct frame_text frame;
	char name[BYTES + 1];
	uint32_t named = 0;

	made_run_begin(&run, &(struct pipeline_options){0});
	memset(name, 'n', BYTES);
	name[BYTES] = 0;
	make_load(&run, 6, 0, "outermost");
	for (uint32_t i = 1; i < LEVELS; i++) {
		snprintf(name, sizeof(name), "level %02u", i);
		name[8] = 'n';
		make_inline(6 + i, i, i, name);
	}
	make_samples(100);
	made_finish(&run, 200);
	view = pipeline_view(run.pipeline);
	for (uint32_t i = 0; i < view->locations->locations.size; i++) {
		if (view->locations->locations.data[i].kind != LOCATION_JIT)
			continue;
		assert_int_equal(frame_text_count(view, i), LEVELS);
		frame_text_get(view, i, 0, &frame);
		assert_memory_equal(frame.name, "level 19nnn", 11);
		for (uint32_t level = 0; level < LEVELS; level++) {
			frame_text_get(view, i, level, &frame);
			named += strstr(frame.name, "level ") != NULL;
		}
	}
	assert_int_equal(named, 4); /* of 16 KB each */
	made_run_end(&run);
}
