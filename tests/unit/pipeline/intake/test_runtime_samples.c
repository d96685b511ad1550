/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples of a process with a known runtime, from intake to its consumer: the recipe of the process
 * is requested, published and removed, functions are read, and finished samples have them. A
 * service of the test answers, as it is told.
 */
#include "pipeline/intake/intake_state.h"
#include "pipeline/pipeline_state.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_run.h"
#include "tests/unit/unwind/unread_tables.h"
#include "unwind/runtimes/runtime_recipes.h"
#include "unwind/runtimes/sampled_functions.h"
#include "unwind/unwinder_runtimes.h"

#define PROGRAM	  0x10000000ull /* address of the runtime */
#define LOOP	  (PROGRAM + 0x100)
#define OUTSIDE	  (PROGRAM + 0x800) /* in the runtime, outside of the loop */
#define STACK_TOP 0x7ffd00001000ull
#define FOUND	  0x20001000ull /* code that nobody reports */
#define ANONYMOUS 0x70000000ull /* memory of no file */
#define FURTHER	  0x1000000	/* where a second process has the program */
#define MS	  1000000ull
#define OBJECT(n) (0x7f0000000000ull + (n)*0x100)
#define CHECK(n)  (0x1000ull * (n))
#define REQUESTS  64
#define STREAM	  (1u << 18)
#define NUMBER	  ((1ull << JITBPF_FRAME_KIND_SHIFT) - 1)

struct published {
	uint32_t pid;
	struct runtime_recipe recipe;
};

struct fixture {
	struct made_run run;
	struct record_consumer consumer;
	struct source source; /* before the test changed it */
	uint64_t time_ns;
	struct unwind_row rows[1u << 14];
	struct unwind_mapping mappings[256];

	/* How the service answers. */
	bool holds, holds_functions; /* it does not answer: any request, requests of functions */
	int recipe_error;
	const char *no_runtime; /* path of a file that has no symbols */
	int function_error;
	uint64_t other_check;  /* of the objects, if it is not 0 */
	uint64_t copied_check; /* of a function that is copied by all others, if it is not 0 */
	int code_error;
	uint64_t identity; /* of the code that is found; 0: it has none */
	bool holds_checks;
	uint32_t code_asked, checks_asked;
	bool no_room_for_recipes;
	bool can_return; /* functions can, anywhere */
	struct runtime_known known;
	struct unwind_request requests[REQUESTS];
	size_t request_count;
	uint32_t recipes_asked, functions_asked;
	uint64_t thread_pointer; /* of the last request for a recipe */

	struct published published[8];
	uint32_t published_count;

	struct jitbpf_program_file skipped; /* the last one */
	uint32_t skips;
	uint32_t programs_asked;
	const struct engine *of_program; /* the answer; NULL: it has no runtime */
	bool found;			 /* functions, in the last round */

	uint8_t stream[STREAM] __attribute__((aligned(8))); /* finished records */
	size_t stream_bytes;
};

static struct fixture f;

/* --- the service and the tables ------------------------------------------------------------- */

static int request(void *context, const struct unwind_request *request)
{
	assert_true(f.request_count < REQUESTS);
	f.recipes_asked += request->kind == UNWIND_RUNTIME_RECIPE;
	if (request->kind == UNWIND_RUNTIME_RECIPE)
		f.thread_pointer = request->recipe.thread_pointer;
	f.programs_asked += request->kind == UNWIND_PROGRAM;
	f.functions_asked += request->kind == UNWIND_RUNTIME_FUNCTION;
	f.code_asked += request->kind == UNWIND_RUNTIME_CODE;
	f.checks_asked += request->kind == UNWIND_CODE_CHECK;
	f.requests[f.request_count++] = *request;
	return 0;
}

static int answer_function(const struct unwind_request *request, unwind_taker_fn take,
			   void *take_context)
{
	static struct runtime_line lines[] = {{0, 10}, {8, 11}, {16, 12}};
	char name[32];
	struct runtime_function copied = {
		.name = "copied", .first_line = 20, .code = 1, .check = f.copied_check};
	struct runtime_function function = {
		.name = name,
		.file = "a.py",
		.first_line = 9,
		.lines = {.data = lines, .size = 3},
		.code = request->function.object + 0x80,
		.check = f.other_check ?: request->function.check,
		.copied = {.data = &copied, .size = f.copied_check ? 1 : 0},
	};
	struct unwind_answer answer = {.request = *request,
				       .error = f.function_error,
				       .function = f.function_error ? NULL : &function};

	snprintf(name, sizeof(name), "f%llu", (request->function.object - OBJECT(0)) / 0x100);
	return take(take_context, &answer);
}

/* Code of 0x100 bytes, at any address. */
static int answer_code(const struct unwind_request *request, unwind_taker_fn take,
		       void *take_context)
{
	struct runtime_code code = {
		.start = request->find.address & ~0xffull,
		.size_bytes = 0x100,
		.identity.word[0] = {FOUND - 8, f.identity ? UINT64_MAX : 0, f.identity},
	};
	struct unwind_answer answer = {.request = *request,
				       .error = f.code_error,
				       .found_ns = f.time_ns,
				       .read_ns = f.time_ns,
				       .code = f.code_error ? NULL : &code};
	int err;

	code.name = strdup("pkg.A.run");
	code.source = strdup("A.java");
	err = take(take_context, &answer);
	runtime_code_deinit(&code);
	return err;
}

static int answer_one(const struct unwind_request *request, unwind_taker_fn take,
		      void *take_context)
{
	struct unwind_answer answer = {.request = *request, .error = -EIO};

	if (request->kind == UNWIND_RUNTIME_FUNCTION)
		return answer_function(request, take, take_context);
	if (request->kind == UNWIND_RUNTIME_CODE)
		return answer_code(request, take, take_context);
	if (request->kind == UNWIND_CODE_CHECK) {
		answer.error = 0;
		answer.read_ns = f.time_ns;
		answer.differs = request->code.check.identity->word[0].value != f.identity;
	}
	if (request->kind == UNWIND_RUNTIME_RECIPE) {
		answer.error = f.recipe_error;
		if (f.no_runtime && !strcmp(request->recipe.module->path, f.no_runtime))
			answer.error = -ENOENT;
		answer.known = &f.known;
	}
	if (request->kind == UNWIND_RETURN_SITE) {
		answer.error = 0;
		answer.can_return = f.can_return;
	}
	if (request->kind == UNWIND_PROGRAM) {
		answer.error = 0;
		answer.engine = f.of_program;
	}
	return take(take_context, &answer);
}

static bool is_held(const struct unwind_request *request)
{
	return (request->kind == UNWIND_RUNTIME_FUNCTION && f.holds_functions) ||
	       (request->kind == UNWIND_CODE_CHECK && f.holds_checks);
}

static int collect(void *context, uint64_t wait_ns, unwind_taker_fn take, void *take_context)
{
	size_t count = f.request_count, kept = 0;
	struct unwind_request taken[REQUESTS];

	if (f.holds)
		return 0;
	memcpy(taken, f.requests, count * sizeof(taken[0]));
	for (size_t i = 0; i < count; i++) {
		if (is_held(&taken[i]))
			f.requests[kept++] = taken[i];
	}
	f.request_count = kept;
	for (size_t i = 0; i < count; i++) {
		int err = is_held(&taken[i]) ? 0 : answer_one(&taken[i], take, take_context);

		if (err)
			return err;
	}
	return 0;
}

static struct runtime_recipe *published_of(uint32_t pid)
{
	for (uint32_t i = 0; i < f.published_count; i++) {
		if (f.published[i].pid == pid)
			return &f.published[i].recipe;
	}
	return NULL;
}

static int publish_recipe(void *context, uint32_t pid, const struct runtime_recipe *recipe)
{
	if (f.no_room_for_recipes)
		return -E2BIG;
	assert_null(published_of(pid));
	f.published[f.published_count++] = (struct published){pid, *recipe};
	return 0;
}

static void unpublish_recipe(void *context, uint32_t pid)
{
	struct runtime_recipe *recipe = published_of(pid);

	assert_non_null(recipe);
	*(struct published *)((char *)recipe - offsetof(struct published, recipe)) =
		f.published[--f.published_count];
}

static void skip_program(void *context, const struct jitbpf_program_file *file)
{
	f.skipped = *file;
	f.skips++;
}

static void found_functions(void *context, bool found)
{
	f.found = found;
}

static void move_recipe(struct runtime_recipe *recipe, struct runtime_layout *layout, uint64_t by)
{
	recipe->loops[0].start += by;
	recipe->loops[0].end += by;
	layout->words[0] += by;
}

static const struct runtime_reader reader = {.move = move_recipe};

/* --- a run ------------------------------------------------------------------------------------ */

static int keep(void *context, const struct jitbpf_record *record)
{
	size_t bytes = (record->size_bytes + 7ull) & ~7ull;

	assert_true(f.stream_bytes + bytes <= STREAM);
	assert_true(record_is_finished(record));
	memcpy(f.stream + f.stream_bytes, record, record->size_bytes);
	f.stream_bytes += bytes;
	return f.consumer.take(context, record);
}

/* Returns the next record of a type behind one (NULL: the first), or NULL. */
static const void *next_record(const void *behind, uint16_t type)
{
	size_t at = 0;
	bool passed = !behind;

	while (at < f.stream_bytes) {
		const struct jitbpf_record *record = (const void *)(f.stream + at);

		if (passed && record->type == type)
			return record;
		passed = passed || record == behind;
		at += (record->size_bytes + 7ull) & ~7ull;
	}
	return NULL;
}

static const void *last_record(uint16_t type)
{
	const void *last = NULL, *next;

	while ((next = next_record(last, type)))
		last = next;
	return last;
}

static void map_program(uint32_t pid)
{
	make_mapping(&f.run, f.time_ns, pid, PROGRAM, "/usr/bin/python3.11");
}

static int set_up(void **state)
{
	const struct unwind_service service = {request, collect, NULL};
	const struct unwind_tables tables = {
		.rows = f.rows,
		.mappings = f.mappings,
		.row_count = 1u << 14,
		.mapping_count = 256,
		.publish_page = unread_publish_page,
		.replace_page = unread_publish_page,
		.publish_process = unread_publish_process,
		.unpublish_page = unread_unpublish_page,
		.unpublish_process = unread_unpublish,
		.publish_recipe = publish_recipe,
		.unpublish_recipe = unpublish_recipe,
		.skip_program = skip_program,
		.found_functions = found_functions,
	};
	const struct pipeline_options options = {.unwind_service = &service,
						 .unwind_tables = &tables};
	struct intake *intake;

	memset(&f, 0, sizeof(f));
	f.time_ns = 1000000000;
	f.known.reader = &reader;
	f.known.version = (struct engine_version){.part = {3, 11, 2}, .parts = 3};
	f.known.recipe = (struct runtime_recipe){
		.function_at = 0,
		.previous_at = 48,
		.position_at = 56,
		.position_mask = UINT64_MAX,
		.entry_at = 74,
		.check = {.size_bytes = 16, .name_count = 1, .name_at = {112}},
		.loops = {{LOOP, LOOP + 0x100, 0, 0}},
		.loop_count = 1,
	};
	made_run_begin_bare(&f.run, &options);
	intake = f.run.pipeline->intake;
	f.consumer = intake->consumer;
	intake->consumer.take = keep;
	map_program(MADE_PID);
	return 0;
}

static int tear_down(void **state)
{
	made_run_end(&f.run);
	return 0;
}

static void round_of(uint64_t ms)
{
	f.time_ns += ms * MS;
	made_round(&f.run, f.time_ns);
}

/* A sample of a process whose rows are not known, so that it has a copy of the stack. */
static void add_copied_sample(uint32_t pid, uint64_t stack_top, uint64_t thread_pointer)
{
	size_t bytes = sizeof(struct jitbpf_sample) + 8 + sizeof(struct jitbpf_stack_copy) + 16;
	struct jitbpf_sample *sample = make_record(&f.run, JITBPF_SAMPLE, bytes, ++f.time_ns);
	struct jitbpf_stack_copy *copy = (struct jitbpf_stack_copy *)&sample->words[1];

	sample->h.flags = JITBPF_SAMPLE_STACK_COPY;
	sample->pid = sample->tid = pid;
	sample->user_words = 1;
	sample->user_end = JITBPF_END_NO_RULE;
	sample->words[0] = copy->ip = OUTSIDE;
	copy->sp = copy->bp = STACK_TOP - 16;
	copy->stack_top = stack_top;
	copy->thread_pointer = thread_pointer;
	copy->size_bytes = 16;
}

static void add_first_sample(uint32_t pid)
{
	add_copied_sample(pid, STACK_TOP, 0x7f5500000740);
}

static void add_program(uint32_t pid, uint64_t inode)
{
	struct jitbpf_program *program =
		make_record(&f.run, JITBPF_PROGRAM, sizeof(*program), ++f.time_ns);

	program->pid = pid;
	program->stack_top = STACK_TOP;
	program->file = (struct jitbpf_program_file){.inode = inode, .device = 5};
}

#define THREAD_POINTER 0x7f5500000700

/* A sample in the loop, with runtime frames of these functions, newest first. */
static void add_sample(uint32_t pid, uint32_t recipe, const uint32_t *functions, uint32_t count)
{
	size_t bytes = sizeof(struct jitbpf_sample) + 16 + sizeof(struct jitbpf_runtime_frames) +
		       count * sizeof(struct runtime_frame);
	struct jitbpf_sample *sample = make_record(&f.run, JITBPF_SAMPLE, bytes, ++f.time_ns);
	struct jitbpf_runtime_frames *part = (struct jitbpf_runtime_frames *)&sample->words[2];

	sample->h.flags = JITBPF_SAMPLE_RUNTIME_FRAMES;
	sample->pid = sample->tid = pid;
	sample->user_words = 2;
	sample->user_end = JITBPF_END_ROOT;
	sample->words[0] = LOOP + 1;
	sample->words[1] = OUTSIDE;
	part->count = count;
	part->thread_pointer = THREAD_POINTER;
	part->recipe = recipe;
	part->end = JITBPF_RUNTIME_ROOT;
	for (uint32_t i = 0; i < count; i++)
		part->frames[i] = (struct runtime_frame){
			.function = OBJECT(functions[i]),
			.position = OBJECT(functions[i]) + 0x80 + 8,
			.check = CHECK(functions[i]) | (i == count - 1),
		};
}

static void begin(void)
{
	add_first_sample(MADE_PID);
	round_of(50);
	round_of(50);
	assert_non_null(published_of(MADE_PID));
}

/* Returns the name of a runtime frame's function, as an earlier record says, or NULL. */
static const char *name_of(const struct jitbpf_sample *sample, uint64_t word)
{
	const struct jitbpf_runtime_function *function = NULL;

	assert_int_equal(word >> JITBPF_FRAME_KIND_SHIFT, JITBPF_FRAME_RUNTIME);
	while ((function = next_record(function, JITBPF_RUNTIME_FUNCTION))) {
		if (function->number == (word & NUMBER)) {
			assert_true((const void *)function < (const void *)sample);
			assert_string_equal(function->runtime, "CPython");
			return function->strings;
		}
	}
	return NULL;
}

static void assert_frame(const struct jitbpf_sample *sample, uint32_t at, const char *name,
			 uint32_t line)
{
	/* The first word is the frame of the loop. */
	assert_string_equal(name_of(sample, sample->words[1 + at]), name);
	assert_int_equal(sample->words[1 + at + 1], line);
}

static const uint32_t two[] = {1, 2};

CASE_WITH(test_names, set_up, tear_down)
{
	const struct jitbpf_sample *sample;
	const struct jitbpf_runtime *runtime;

	begin();
	assert_int_equal(f.recipes_asked, 1);
	assert_true(published_of(MADE_PID)->stack_top == STACK_TOP);
	assert_int_equal(published_of(MADE_PID)->frame_bytes, 78);
	assert_int_equal(published_of(MADE_PID)->object_bytes, 120);
	runtime = last_record(JITBPF_RUNTIME);
	assert_string_equal(runtime->name, "CPython");
	assert_int_equal(runtime->status, JITBPF_RUNTIME_SHOWN);
	assert_int_equal(runtime->version[1], 11);

	add_sample(MADE_PID, 1, two, 2);
	add_sample(MADE_PID, 1, two, 1);
	round_of(50);
	assert_int_equal(f.functions_asked, 2);
	sample = next_record(next_record(NULL, JITBPF_SAMPLE), JITBPF_SAMPLE);
	assert_int_equal(sample->user_words, 6);
	assert_int_equal(sample->words[0] >> JITBPF_FRAME_KIND_SHIFT, JITBPF_FRAME_INTERPRETER);
	assert_frame(sample, 0, "f1", 11);
	assert_frame(sample, 2, "f2", 11);
	assert_int_equal(sample->words[5] >> JITBPF_FRAME_KIND_SHIFT,
			 0); /* the start of the thread */
	assert_int_equal(sample->h.flags, 0);
}

/* The object has another check when it is read: its function is unknown, and not that one. */
CASE_WITH(test_other_check, set_up, tear_down)
{
	const struct jitbpf_sample *sample;

	begin();
	f.other_check = CHECK(7);
	add_sample(MADE_PID, 1, two, 2);
	round_of(50);
	sample = last_record(JITBPF_SAMPLE);
	assert_frame(sample, 0, "", 0);
	assert_frame(sample, 2, "", 0);
	/* It is read again later, a few times. */
	f.other_check = 0;
	add_sample(MADE_PID, 1, two, 2);
	round_of(50);
	assert_frame(last_record(JITBPF_SAMPLE), 0, "", 0);
	round_of(1100);
	add_sample(MADE_PID, 1, two, 2);
	round_of(50);
	assert_frame(last_record(JITBPF_SAMPLE), 0, "f1", 11);
}

/* Copies of a function have its check: one that can be read says what the others are. */
CASE_WITH(test_copies, set_up, tear_down)
{
	static const struct runtime_reader has_copies = {.has_copies = true};
	struct jitbpf_runtime_frames *part;

	f.known.reader = &has_copies;
	begin();
	f.other_check = CHECK(7);
	for (uint32_t copy = 1; copy <= 3; copy++) {
		add_sample(MADE_PID, 1, (uint32_t[]){copy}, 1);
		part = (struct jitbpf_runtime_frames *)&((struct jitbpf_sample *)f.run.records[0])
			       ->words[2];
		part->frames[0].check = CHECK(1) | 1;
		part->frames[0].position = OBJECT(2) + 0x80 + 8;
		round_of(50);
		assert_frame(last_record(JITBPF_SAMPLE), 0, copy == 1 ? "" : "f2",
			     copy > 1 ? 11 : 0);
		assert_int_equal(f.functions_asked, copy == 1 ? 1 : 2);
		f.other_check = 0;
	}
}

/* Copies are known from the function that makes them, though none of them can be read. */
CASE_WITH(test_copies_and_maker, set_up, tear_down)
{
	static const struct runtime_reader has_copies = {.has_copies = true};

	f.known.reader = &has_copies;
	begin();
	f.copied_check = CHECK(1);
	add_sample(MADE_PID, 1, (uint32_t[]){2}, 1);
	round_of(50);
	assert_frame(last_record(JITBPF_SAMPLE), 0, "f2", 11);
	assert_int_equal(f.functions_asked, 1);
	f.function_error = -EFAULT;
	add_sample(MADE_PID, 1, (uint32_t[]){1}, 1);
	round_of(50);
	assert_frame(last_record(JITBPF_SAMPLE), 0, "copied", 0);
	assert_int_equal(f.functions_asked, 1);
}

/* Without a check, nothing is read. */
CASE_WITH(test_no_check, set_up, tear_down)
{
	struct jitbpf_runtime_frames *part;

	begin();
	add_sample(MADE_PID, 1, two, 2);
	part = (struct jitbpf_runtime_frames *)&((struct jitbpf_sample *)f.run.records[0])
		       ->words[2];
	part->frames[0].check = 0;
	round_of(50);
	assert_int_equal(f.functions_asked, 1);
	assert_frame(last_record(JITBPF_SAMPLE), 0, "", 0);
	assert_frame(last_record(JITBPF_SAMPLE), 2, "f2", 11);
}

/* A sample waits for its functions, at most a second; others do not wait for it. */
CASE_WITH(test_waits, set_up, tear_down)
{
	const void *first;

	begin();
	first = last_record(JITBPF_SAMPLE);
	f.holds_functions = true;
	add_sample(MADE_PID, 1, two, 2);
	round_of(50);
	round_of(50);
	assert_ptr_equal(last_record(JITBPF_SAMPLE), first);
	f.holds_functions = false;
	round_of(50);
	assert_frame(last_record(JITBPF_SAMPLE), 0, "f1", 11);

	f.holds_functions = true;
	add_sample(MADE_PID, 1, (uint32_t[]){3}, 1);
	round_of(500);
	round_of(600);
	assert_frame(last_record(JITBPF_SAMPLE), 0, "", 0);
	f.holds_functions = false;
	round_of(50);
}

/* The runtime has not started: the recipe is requested again, without a sample. */
CASE_WITH(test_starting, set_up, tear_down)
{
	f.recipe_error = -ENODATA;
	f.known.recipe.loop_count = 0;
	add_first_sample(MADE_PID);
	round_of(50);
	for (int i = 0; i < 100; i++)
		round_of(50);
	assert_in_range(f.recipes_asked, RUNTIME_SOON_TRIES, RUNTIME_SOON_TRIES + 22);
	assert_int_equal(((const struct jitbpf_runtime *)last_record(JITBPF_RUNTIME))->status,
			 JITBPF_RUNTIME_STARTING);
	f.recipe_error = 0;
	f.known.recipe.loop_count = 1;
	for (int i = 0; i < 100; i++)
		round_of(50);
	assert_non_null(published_of(MADE_PID));
	assert_int_equal(((const struct jitbpf_runtime *)last_record(JITBPF_RUNTIME))->status,
			 JITBPF_RUNTIME_SHOWN);
}

/* A program that waits long for a CPU starts long after the first requests: it is not missed. */
CASE_WITH(test_starts_late, set_up, tear_down)
{
	f.recipe_error = -ENODATA;
	f.known.recipe.loop_count = 0;
	add_first_sample(MADE_PID);
	for (int i = 0; i < 200; i++)
		round_of(2);
	assert_true(f.recipes_asked > RUNTIME_SOON_TRIES);
	assert_in_range(f.recipes_asked, RUNTIME_SOON_TRIES, RUNTIME_SOON_TRIES + 32);
	f.recipe_error = 0;
	f.known.recipe.loop_count = 1;
	for (int i = 0; i < 24; i++)
		round_of(2);
	assert_non_null(published_of(MADE_PID));
}

static uint32_t last_status(void)
{
	return ((const struct jitbpf_runtime *)last_record(JITBPF_RUNTIME))->status;
}

/* A process that ends while its runtime starts, or before a first answer, says so. */
CASE_WITH(test_ends_while_it_starts, set_up, tear_down)
{
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t pid = i ? 300 + i : MADE_PID;

		make_task(&f.run, JITBPF_FORK, ++f.time_ns, pid, 1);
		make_mapping(&f.run, ++f.time_ns, pid, PROGRAM, "/usr/bin/python3.11");
		f.recipe_error = -ENODATA;
		f.known.recipe.loop_count = i == 1; /* it is expected */
		f.holds = i == 2;
		add_program(pid, 1);
		round_of(2);
		make_task(&f.run, JITBPF_EXIT, ++f.time_ns, pid, 0);
		round_of(2);
		assert_int_equal(((const struct jitbpf_runtime *)last_record(JITBPF_RUNTIME))->pid,
				 pid);
		assert_int_equal(last_status(), JITBPF_RUNTIME_ENDED);
		assert_int_equal(f.published_count, 0);
		f.holds = false;
		round_of(2);
	}
	assert_int_equal(last_status(), JITBPF_RUNTIME_ENDED);
}

/* The answer comes with the exit: it counts. */
CASE_WITH(test_ends_with_the_answer, set_up, tear_down)
{
	f.holds = true;
	f.recipe_error = -ENOTSUP;
	add_first_sample(MADE_PID);
	round_of(50);
	f.holds = false;
	make_task(&f.run, JITBPF_EXIT, ++f.time_ns, MADE_PID, 0);
	round_of(50);
	assert_int_equal(last_status(), JITBPF_RUNTIME_OTHER_VERSION);
}

/* What was shown stays shown. */
CASE_WITH(test_ends_when_shown, set_up, tear_down)
{
	begin();
	make_task(&f.run, JITBPF_EXIT, ++f.time_ns, MADE_PID, 0);
	round_of(50);
	assert_int_equal(last_status(), JITBPF_RUNTIME_SHOWN);
	assert_int_equal(f.published_count, 0);
}

/* A version that is not known is said, and asked for again only after the process has mapped code.
 */
CASE_WITH(test_other_version, set_up, tear_down)
{
	f.recipe_error = -ENOTSUP;
	add_first_sample(MADE_PID);
	for (int i = 0; i < 20; i++)
		round_of(50);
	assert_int_equal(f.recipes_asked, 1);
	assert_int_equal(((const struct jitbpf_runtime *)last_record(JITBPF_RUNTIME))->status,
			 JITBPF_RUNTIME_OTHER_VERSION);
	make_mapping(&f.run, f.time_ns, MADE_PID, PROGRAM + 0x100000, "/usr/lib/x.so");
	f.recipe_error = 0;
	add_first_sample(MADE_PID);
	round_of(50);
	round_of(50);
	assert_non_null(published_of(MADE_PID));
}

/* The thread pointer of the program before says nothing of the one that an exec has loaded. */
CASE_WITH(test_exec_that_was_sampled, set_up, tear_down)
{
	f.recipe_error = -EBADMSG;
	add_copied_sample(MADE_PID, STACK_TOP - 0x500, 0x7f5500000740);
	round_of(50);
	assert_true(f.thread_pointer == 0x7f5500000740);
	f.recipe_error = 0;
	add_copied_sample(MADE_PID, STACK_TOP, 0);
	round_of(50);
	round_of(50);
	assert_true(!f.thread_pointer);
	assert_true(published_of(MADE_PID)->stack_top == STACK_TOP);
}

/* An exec removes the recipe; an answer that was for the program before is not used. */
CASE_WITH(test_exec, set_up, tear_down)
{
	begin();
	make_comm(&f.run, f.time_ns, MADE_PID, "other", true);
	round_of(50);
	assert_null(published_of(MADE_PID));
	add_first_sample(MADE_PID);
	round_of(50);
	round_of(50);
	assert_null(published_of(MADE_PID));
	map_program(MADE_PID);
	add_first_sample(MADE_PID);
	round_of(50);
	round_of(50);
	assert_int_equal(published_of(MADE_PID)->number, 2);
	/* Samples from before the exec had the first recipe. */
	add_sample(MADE_PID, 1, two, 2);
	add_sample(MADE_PID, 9, two, 2);
	round_of(50);
	assert_int_equal(((const struct jitbpf_sample *)last_record(JITBPF_SAMPLE))->user_words, 2);
	assert_int_equal(f.recipes_asked, 2);
}

/* A child has the recipe of its parent at once, and its functions. */
CASE_WITH(test_fork, set_up, tear_down)
{
	begin();
	add_sample(MADE_PID, 1, two, 2);
	round_of(50);
	make_task(&f.run, JITBPF_FORK, ++f.time_ns, 200, MADE_PID);
	round_of(1);
	assert_int_equal(published_of(200)->number, 1);
	assert_true(published_of(200)->stack_top == STACK_TOP);
	make_task(&f.run, JITBPF_EXIT, ++f.time_ns, MADE_PID, 0);
	round_of(50);
	assert_null(published_of(MADE_PID));
	add_sample(200, 1, two, 2);
	round_of(50);
	assert_frame(last_record(JITBPF_SAMPLE), 2, "f2", 11);
	assert_int_equal(f.recipes_asked, 1);
	assert_int_equal(f.functions_asked, 2);
	make_task(&f.run, JITBPF_EXIT, ++f.time_ns, 200, 0);
	round_of(50);
	assert_int_equal(f.published_count, 0);
}

static void add_owner(uint32_t pid, uint32_t uid)
{
	struct jitbpf_owner *record =
		make_record(&f.run, JITBPF_OWNER, sizeof(*record), ++f.time_ns);

	record->pid = pid;
	record->uid = record->charged_uid = record->fs_uid = uid;
}

/*
 * A child that runs as another user does not say what the functions of its parent are called, nor
 * of other children: it can write what it wants to its own copy of their memory.
 */
CASE_WITH(test_fork_as_other_user, set_up, tear_down)
{
	begin();
	for (uint32_t pid = 200; pid <= 204; pid += 4) { /* threads with one memory of stacks */
		make_task(&f.run, JITBPF_FORK, ++f.time_ns, pid, MADE_PID);
		add_owner(pid, 10 * pid);
	}
	add_sample(200, 1, two, 2);
	round_of(50);
	assert_int_equal(f.functions_asked, 2);
	assert_frame(last_record(JITBPF_SAMPLE), 2, "f2", 11);
	f.function_error = -EFAULT;
	add_sample(204, 1, two, 2);
	round_of(50);
	assert_int_equal(f.functions_asked, 4);
	assert_frame(last_record(JITBPF_SAMPLE), 2, "", 0);
	f.function_error = 0;
	add_sample(MADE_PID, 1, two, 2);
	round_of(50);
	assert_int_equal(f.functions_asked, 6);
	assert_frame(last_record(JITBPF_SAMPLE), 2, "f2", 11);
	add_sample(200, 1, two, 2);
	round_of(50);
	assert_int_equal(f.functions_asked, 6);
	assert_frame(last_record(JITBPF_SAMPLE), 2, "f2", 11);
}

static uint32_t count_functions(void)
{
	const void *record = NULL;
	uint32_t count = 0;

	while ((record = next_record(record, JITBPF_RUNTIME_FUNCTION)))
		count++;
	return count;
}

/*
 * Functions that come back after a long time have their numbers: who consumes the records never
 * forgets one.
 */
CASE_WITH(test_functions_come_back, set_up, tear_down)
{
	uint64_t word;

	begin();
	add_sample(MADE_PID, 1, two, 2);
	round_of(50);
	word = ((const struct jitbpf_sample *)last_record(JITBPF_SAMPLE))->words[1];
	for (int turn = 0; turn < 3; turn++) {
		for (int i = 0; i < 3; i++)
			round_of(RUNTIME_FUNCTION_KEEP_NS / MS);
		add_sample(MADE_PID, 1, two, 2);
		round_of(50);
		assert_int_equal(f.functions_asked, 2 * (turn + 2));
		assert_frame(last_record(JITBPF_SAMPLE), 0, "f1", 11);
		assert_true(((const struct jitbpf_sample *)last_record(JITBPF_SAMPLE))->words[1] ==
			    word);
	}
	assert_int_equal(count_functions(), 2);
}

/* Equal functions of two users are charged to each, so that each has them if the other one cannot.
 */
CASE_WITH(test_functions_of_users, set_up, tear_down)
{
	const struct jitbpf_runtime_function *function;

	begin();
	make_task(&f.run, JITBPF_FORK, ++f.time_ns, 200, MADE_PID);
	add_owner(200, 1000);
	f.function_error = -EFAULT;
	add_sample(200, 1, two, 2);
	round_of(50);
	add_sample(MADE_PID, 1, two, 2);
	round_of(50);
	assert_int_equal(count_functions(), 2);
	function = last_record(JITBPF_RUNTIME_FUNCTION);
	assert_int_equal(function->pid, MADE_PID);
	assert_string_equal(function->strings, "");
	f.function_error = 0;
	for (uint32_t pid = MADE_PID; pid <= 200; pid += 200 - MADE_PID) {
		add_sample(pid, 1, (uint32_t[]){3, 4}, 2);
		round_of(50);
		function = last_record(JITBPF_RUNTIME_FUNCTION);
		assert_int_equal(function->pid, pid);
		assert_string_equal(function->strings, "f4");
	}
	assert_int_equal(count_functions(), 6);
}

/* Frames that end without an entry are not all: a generator had no link to its caller. */
CASE_WITH(test_no_caller, set_up, tear_down)
{
	struct jitbpf_runtime_frames *part;

	begin();
	add_sample(MADE_PID, 1, two, 2);
	add_sample(MADE_PID, 1, two, 2);
	part = (struct jitbpf_runtime_frames *)&((struct jitbpf_sample *)f.run.records[1])
		       ->words[2];
	part->frames[1].check = CHECK(2);
	round_of(50);
	assert_frame(last_record(JITBPF_SAMPLE), 2, "f2", 11);
	assert_int_equal(((const struct jitbpf_record *)last_record(JITBPF_SAMPLE))->flags,
			 JITBPF_SAMPLE_RUNTIME_CUT);
}

/* Recipes that the BPF program cannot follow are refused. */
CASE_WITH(test_bad_recipes, set_up, tear_down)
{
	const struct runtime_recipe good = f.known.recipe;

	for (int i = 0; i < 8; i++) {
		struct runtime_recipe *recipe = &f.known.recipe;

		*recipe = good;
		if (i == 0)
			recipe->function_at = -8;
		else if (i == 1)
			recipe->previous_at = RUNTIME_FRAME_BYTES_MAX - 4;
		else if (i == 2)
			recipe->check.size_bytes = RUNTIME_CHECK_BYTES_MAX + 8;
		else if (i == 3)
			recipe->check.name_at[0] = RUNTIME_OBJECT_BYTES_MAX;
		else if (i == 4)
			recipe->step_count = RUNTIME_STEPS_MAX + 1;
		else if (i == 5)
			recipe->loop_count = RUNTIME_LOOPS_MAX + 1;
		else if (i == 6)
			recipe->switch_count = RUNTIME_SWITCHES_MAX + 1;
		else
			recipe->frame_register = 16;
		add_first_sample(MADE_PID);
		round_of(50);
		assert_int_equal(f.recipes_asked, (uint32_t)i + 1);
		assert_null(published_of(MADE_PID));
		assert_int_equal(
			((const struct jitbpf_runtime *)last_record(JITBPF_RUNTIME))->status,
			JITBPF_RUNTIME_NOT_AS_KNOWN);
		make_comm(&f.run, ++f.time_ns, MADE_PID, "python3", true);
		map_program(MADE_PID);
	}
	f.known.recipe = good;
	f.no_room_for_recipes = true;
	add_first_sample(MADE_PID);
	round_of(50);
	assert_null(published_of(MADE_PID));
}

/* Frames beside each other, whose further words are in scopes, with owners of functions. */
static struct runtime_recipe recipe_of_scopes(struct runtime_recipe recipe)
{
	recipe.previous_at = RUNTIME_NO_OFFSET;
	recipe.stride = 64;
	recipe.more_at = 32;
	recipe.more_offset = -16;
	recipe.more_bytes = 24;
	recipe.entry_at = RUNTIME_MORE_AT + 16;
	recipe.owner = (struct runtime_owner){.object_at = RUNTIME_MORE_AT,
					      .outer_at = RUNTIME_MORE_AT + 8,
					      .kind_mask = 0xff,
					      .via_at = 8,
					      .check_offset = 8,
					      .check_bytes = 32};
	return recipe;
}

CASE_WITH(test_recipe_of_scopes, set_up, tear_down)
{
	f.known.recipe = recipe_of_scopes(f.known.recipe);
	add_first_sample(MADE_PID);
	round_of(50);
	assert_non_null(published_of(MADE_PID));
	/* The further words are not among those of a frame: the last of these is the position. */
	assert_int_equal(published_of(MADE_PID)->frame_bytes, 64);
	assert_int_equal(published_of(MADE_PID)->owner.bytes, 40);
}

CASE_WITH(test_bad_recipes_of_scopes, set_up, tear_down)
{
	const struct runtime_recipe good = recipe_of_scopes(f.known.recipe);
	struct runtime_recipe bad[16];
	struct runtime_recipe *next = bad;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		bad[i] = good;
	(next++)->stride = 0;
	(next++)->more_at = RUNTIME_MORE_AT - 4;
	(next++)->more_at = -8;
	(next++)->more_bytes = RUNTIME_MORE_BYTES_MAX + 8;
	(next++)->more_bytes = 16; /* the flags are behind them */
	(next++)->entry_at = RUNTIME_MORE_AT + 24;
	(next++)->position_at = RUNTIME_MORE_AT - 4;
	next->needs_position = true;
	(next++)->position_at = RUNTIME_NO_OFFSET;
	next->other_mask = 1;
	(next++)->other_at = RUNTIME_MORE_AT + 20;
	(next++)->owner.object_at = 0;
	(next++)->owner.outer_at = RUNTIME_MORE_AT + 20;
	(next++)->owner.kind_at = RUNTIME_OWNER_BYTES_MAX - 2;
	(next++)->owner.via_at = -8;
	(next++)->owner.check_bytes = RUNTIME_OWNER_BYTES_MAX;
	(next++)->owner.check_bytes = 12;
	next->more_bytes = 0;
	(next++)->entry_at = 0;
	assert_ptr_equal(next, bad + ARRAY_SIZE(bad));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		f.known.recipe = bad[i];
		add_first_sample(MADE_PID);
		round_of(50);
		assert_int_equal(f.recipes_asked, (uint32_t)i + 1);
		assert_null(published_of(MADE_PID));
		make_comm(&f.run, ++f.time_ns, MADE_PID, "python3", true);
		map_program(MADE_PID);
	}
}

/* The recipe of a program that was executed is requested before its first sample. */
CASE_WITH(test_program, set_up, tear_down)
{
	add_program(MADE_PID, 1);
	round_of(2);
	assert_non_null(published_of(MADE_PID));
	assert_true(published_of(MADE_PID)->stack_top == STACK_TOP);
	assert_false(pipeline_is_urgent(f.run.pipeline));
	assert_int_equal(f.skips, 0);
}

/* While it starts, each round requests it. */
CASE_WITH(test_program_starts, set_up, tear_down)
{
	f.recipe_error = -ENODATA;
	f.known.recipe.loop_count = 0;
	add_program(MADE_PID, 1);
	for (uint32_t i = 1; i <= 4; i++) {
		round_of(2);
		assert_int_equal(f.recipes_asked, i);
		assert_true(pipeline_is_urgent(f.run.pipeline));
	}
	f.recipe_error = 0;
	f.known.recipe.loop_count = 1;
	round_of(2);
	assert_non_null(published_of(MADE_PID));
}

/* What is known of it before it has started is in force at once, and shown once it is confirmed. */
CASE_WITH(test_program_is_expected, set_up, tear_down)
{
	const struct jitbpf_sample *sample;

	f.recipe_error = -ENODATA;
	add_program(MADE_PID, 1);
	round_of(2);
	assert_int_equal(f.recipes_asked, 1);
	assert_int_equal(published_of(MADE_PID)->number, 1);
	assert_false(pipeline_is_urgent(f.run.pipeline));
	round_of(2);
	assert_int_equal(f.recipes_asked, 1);
	f.recipe_error = 0;
	add_sample(MADE_PID, 1, two, 2);
	round_of(2);
	assert_int_equal(f.recipes_asked, 2);
	assert_int_equal(published_of(MADE_PID)->number, 1);
	round_of(2);
	sample = last_record(JITBPF_SAMPLE);
	assert_frame(sample, 0, "f1", 11);
	assert_frame(sample, 2, "f2", 11);
}

/* Its runtime starts late, so that it is requested without a thread; a sample has one at last. */
CASE_WITH(test_expected_program_starts_late, set_up, tear_down)
{
	const struct jitbpf_sample *sample;

	f.recipe_error = -ENODATA;
	add_program(MADE_PID, 1);
	round_of(2);
	for (uint32_t i = 0; i < 10; i++) {
		add_copied_sample(MADE_PID, STACK_TOP, 0);
		round_of(100);
	}
	assert_true(f.recipes_asked > 1 && !f.thread_pointer);
	add_sample(MADE_PID, 1, two, 2);
	for (uint32_t i = 0; i < 10 && !f.thread_pointer; i++)
		round_of(100);
	assert_true(f.thread_pointer == THREAD_POINTER);
	f.recipe_error = 0;
	for (uint32_t i = 0; i < 10; i++)
		round_of(100);
	add_sample(MADE_PID, 1, two, 2);
	round_of(50);
	sample = last_record(JITBPF_SAMPLE);
	assert_frame(sample, 0, "f1", 11);
}

/* Finish a sample of unknown code whose stack has these words. Returns the number of its frames. */
static uint32_t frames_of_code(const uint64_t *words, size_t count, uint64_t bp)
{
	size_t bytes =
		sizeof(struct jitbpf_sample) + 8 + sizeof(struct jitbpf_stack_copy) + count * 8;
	struct jitbpf_sample *sample = make_record(&f.run, JITBPF_SAMPLE, bytes, ++f.time_ns);
	struct jitbpf_stack_copy *copy = (struct jitbpf_stack_copy *)&sample->words[1];

	sample->h.flags = JITBPF_SAMPLE_STACK_COPY;
	sample->pid = sample->tid = MADE_PID;
	sample->user_words = 1;
	sample->user_end = JITBPF_END_NO_RULE;
	sample->words[0] = copy->ip = ANONYMOUS + 0x10;
	copy->sp = STACK_TOP - 0x800;
	copy->bp = bp;
	copy->stack_top = STACK_TOP;
	copy->size_bytes = (uint32_t)(count * 8);
	memcpy(copy->data, words, count * 8);
	for (uint32_t i = 0; i < 30; i++)
		round_of(50);
	return ((const struct jitbpf_sample *)last_record(JITBPF_SAMPLE))->user_words;
}

/* The frame of code that a runtime has compiled ends where the runtime's file has called it. */
CASE_WITH(test_compiled_code, set_up, tear_down)
{
	static const uint64_t words[40] = {1, ANONYMOUS, PROGRAM + 0x10001, PROGRAM + 0x20,
					   PROGRAM + 0x30};
	static const uint64_t far[40] = {[RUNTIME_COMPILED_WORDS] = PROGRAM + 0x20};
	const uint64_t bp = STACK_TOP - 0x800 + 8 * 2; /* where a frame pointer would be */

	f.can_return = true;
	f.known.recipe.compiled.exists = 1;
	make_mapping(&f.run, ++f.time_ns, MADE_PID, ANONYMOUS, "//anon");
	begin();
	assert_true(published_of(MADE_PID)->compiled.callers.start == PROGRAM);
	assert_true(published_of(MADE_PID)->compiled.callers.end == PROGRAM + 0x10000);
	assert_in_range(frames_of_code(words, 40, 0), 2, 3);
	assert_true(((const struct jitbpf_sample *)last_record(JITBPF_SAMPLE))->words[1] ==
		    PROGRAM + 0x20);
	assert_in_range(frames_of_code(words, 40, bp), 2, 3);
	assert_int_equal(frames_of_code(far, 40, 0), 1);
	f.can_return = false;
	assert_int_equal(frames_of_code((const uint64_t[40]){PROGRAM + 0x40}, 40, 0), 1);
}

/* An answer that came since the last round counts before the rings are drained. */
static int drain_published(void *context, record_taker_fn take, void *take_context,
			   uint64_t *ret_time_ns)
{
	assert_non_null(published_of(MADE_PID));
	return f.source.drain(context, take, take_context, ret_time_ns);
}

CASE_WITH(test_answer_before_the_drain, set_up, tear_down)
{
	add_first_sample(MADE_PID);
	f.holds = true;
	round_of(2);
	assert_int_equal(f.recipes_asked, 1);
	assert_null(published_of(MADE_PID));
	f.holds = false;
	f.source = f.run.source;
	f.run.source.drain = drain_published;
	round_of(2);
}

/* A program that loads no runtime in time, or ends before, is not looked at any more. */
CASE_WITH(test_plain_program, set_up, tear_down)
{
	make_comm(&f.run, f.time_ns, MADE_PID, "sh", true);
	add_program(MADE_PID, 7);
	round_of(2);
	assert_true(pipeline_is_urgent(f.run.pipeline));
	assert_int_equal(f.skips, 0);
	round_of(RUNTIME_LOOK_OUT_NS / MS + 1);
	assert_int_equal(f.skips, 1);
	assert_int_equal(f.skipped.inode, 7);
	round_of(2);
	assert_false(pipeline_is_urgent(f.run.pipeline));

	add_program(MADE_PID, 8);
	round_of(2);
	make_task(&f.run, JITBPF_EXIT, ++f.time_ns, MADE_PID, 0);
	round_of(2);
	assert_int_equal(f.skips, 2);
	assert_int_equal(f.skipped.inode, 8);
	assert_int_equal(f.recipes_asked, 0);
}

/* A library that is loaded after the exec has the runtime. */
CASE_WITH(test_program_loads, set_up, tear_down)
{
	make_comm(&f.run, f.time_ns, MADE_PID, "sh", true);
	add_program(MADE_PID, 7);
	round_of(2);
	map_program(MADE_PID);
	round_of(2);
	round_of(2);
	assert_non_null(published_of(MADE_PID));
	assert_int_equal(f.skips, 0);
}

/* The program was asked when it had not loaded the library that has the runtime. */
CASE_WITH(test_library_after_the_program, set_up, tear_down)
{
	f.no_runtime = "/usr/bin/python3.11";
	f.holds = true;
	add_program(MADE_PID, 7);
	round_of(2);
	assert_int_equal(f.recipes_asked, 1);
	make_mapping(&f.run, ++f.time_ns, MADE_PID, PROGRAM + FURTHER,
		     "/usr/lib/libpython3.11.so.1.0");
	add_first_sample(MADE_PID);
	round_of(2);
	f.holds = false;
	round_of(2);
	round_of(2);
	assert_non_null(published_of(MADE_PID));
}

/* The same if it was sampled in the round that loaded it, and is the first module of the run. */
CASE_WITH(test_program_is_sampled, set_up, tear_down)
{
	const struct jitbpf_runtime *record;

	make_comm(&f.run, f.time_ns, MADE_PID, "sh", true);
	add_program(MADE_PID, 7);
	round_of(2);
	map_program(MADE_PID);
	add_first_sample(MADE_PID);
	round_of(2);
	round_of(2);
	assert_non_null(published_of(MADE_PID));
	record = last_record(JITBPF_RUNTIME);
	assert_non_null(record);
	assert_string_equal(record->name, "CPython");
}

#define SERVER 0x400000 /* a program that is linked with a runtime */

static void begin_server(uint32_t pid)
{
	make_task(&f.run, JITBPF_FORK, ++f.time_ns, pid, 1);
	make_mapping(&f.run, ++f.time_ns, pid, SERVER, "/srv/server");
}

/* The file of a program says which runtime it has, if its name does not. It is asked once. */
CASE_WITH(test_linked_runtime, set_up, tear_down)
{
	const struct jitbpf_runtime *record;

	f.of_program = &engine_cpython;
	begin_server(300);
	for (int i = 0; i < 4; i++) {
		add_first_sample(300);
		round_of(2);
	}
	assert_int_equal(f.programs_asked, 1);
	assert_non_null(published_of(300));
	record = last_record(JITBPF_RUNTIME);
	assert_non_null(record);
	assert_int_equal(record->pid, 300);
	assert_string_equal(record->name, "CPython");

	/* Further processes of that file. */
	begin_server(301);
	add_first_sample(301);
	round_of(2);
	round_of(2);
	assert_int_equal(f.programs_asked, 1);
	assert_non_null(published_of(301));
}

CASE_WITH(test_no_linked_runtime, set_up, tear_down)
{
	begin_server(300);
	for (int i = 0; i < 4; i++) {
		add_first_sample(300);
		round_of(2);
	}
	assert_int_equal(f.programs_asked, 1);
	assert_int_equal(f.recipes_asked, 0);
	assert_null(published_of(300));
	/* It loads one later. */
	make_mapping(&f.run, ++f.time_ns, 300, PROGRAM, "/usr/bin/python3.11");
	add_first_sample(300);
	round_of(2);
	round_of(2);
	assert_int_equal(f.recipes_asked, 1);
	assert_non_null(published_of(300));
}

/* A process of a file whose recipe is known has it at once. */
static void begin_expected(void)
{
	begin();
	make_task(&f.run, JITBPF_FORK, ++f.time_ns, 300, 1);
	make_mapping(&f.run, ++f.time_ns, 300, PROGRAM + FURTHER, "/usr/bin/python3.11");
	add_program(300, 1);
	round_of(2);
	assert_int_equal(f.recipes_asked, 1);
	assert_non_null(published_of(300));
	assert_true(published_of(300)->loops[0].start == LOOP + FURTHER);
	assert_int_equal(published_of(300)->number, 2);
	assert_false(pipeline_is_urgent(f.run.pipeline));
}

/* A sample of that process, whose code is FURTHER. */
static void add_sample_further(void)
{
	struct jitbpf_sample *sample;

	add_sample(300, 2, two, 2);
	sample = (struct jitbpf_sample *)f.run.records[f.run.record_count - 1];
	sample->words[0] += FURTHER;
	sample->words[1] += FURTHER;
}

CASE_WITH(test_expected, set_up, tear_down)
{
	begin_expected();
	move_recipe(&f.known.recipe, &f.known.layout, FURTHER);
	add_sample_further();
	round_of(2);
	round_of(2);
	assert_int_equal(f.recipes_asked, 2);
	assert_int_equal(published_of(300)->number, 2);
	assert_frame(last_record(JITBPF_SAMPLE), 0, "f1", 11);
	assert_frame(last_record(JITBPF_SAMPLE), 2, "f2", 11);
}

/* The process has another recipe: what was found by the expected one is not shown. */
CASE_WITH(test_not_as_expected, set_up, tear_down)
{
	begin_expected();
	move_recipe(&f.known.recipe, &f.known.layout, FURTHER);
	f.known.recipe.base = 8;
	add_sample_further();
	round_of(2);
	round_of(2);
	assert_int_equal(published_of(300)->number, 3);
	assert_int_equal(published_of(300)->base, 8);
	assert_int_equal(((const struct jitbpf_sample *)last_record(JITBPF_SAMPLE))->user_words, 2);
}

/* It has no such runtime after all, or has ended before that was known. */
CASE_WITH(test_expected_never, set_up, tear_down)
{
	begin_expected();
	f.recipe_error = -ENOTSUP;
	add_sample_further();
	round_of(2);
	round_of(2);
	assert_null(published_of(300));
	assert_int_equal(((const struct jitbpf_sample *)last_record(JITBPF_SAMPLE))->user_words, 2);
}

CASE_WITH(test_expected_ends, set_up, tear_down)
{
	const void *first;

	begin_expected();
	first = last_record(JITBPF_SAMPLE);
	f.recipe_error = -ENODATA;
	add_sample_further();
	round_of(2);
	assert_ptr_equal(last_record(JITBPF_SAMPLE), first);
	make_task(&f.run, JITBPF_EXIT, ++f.time_ns, 300, 0);
	round_of(2);
	round_of(2);
	assert_null(published_of(300));
	assert_int_equal(((const struct jitbpf_sample *)last_record(JITBPF_SAMPLE))->user_words, 2);
}

/* A process of another user is not expected to have that recipe. */
CASE_WITH(test_expected_of_other_user, set_up, tear_down)
{
	begin();
	make_task(&f.run, JITBPF_FORK, ++f.time_ns, 300, 1);
	add_owner(300, 1000);
	make_mapping(&f.run, ++f.time_ns, 300, PROGRAM + FURTHER, "/usr/bin/python3.11");
	f.recipe_error = -ENODATA;
	f.known.recipe.loop_count = 0;
	add_program(300, 1);
	round_of(2);
	assert_null(published_of(300));
	assert_int_equal(f.recipes_asked, 2);
}

/* The expected recipe finds no frames: the process is asked. */
CASE_WITH(test_expected_without_frames, set_up, tear_down)
{
	begin_expected();
	add_first_sample(300);
	round_of(2);
	assert_int_equal(f.recipes_asked, 1);
	round_of(300);
	add_first_sample(300);
	round_of(2);
	assert_int_equal(f.recipes_asked, 2);
}

/* The tables learn whether the functions of a round were new. */
CASE_WITH(test_found_functions, set_up, tear_down)
{
	begin();
	assert_false(f.found);
	add_sample(MADE_PID, 1, two, 2);
	round_of(2);
	assert_true(f.found);
	add_sample(MADE_PID, 1, two, 2);
	round_of(2);
	assert_false(f.found);
}

/* --- code that nobody has reported ---------------------------------------------------------- */

static int code_at(const struct process_memory *memory, const struct runtime_recipe *recipe,
		   const struct runtime_layout *layout, uint64_t address, struct runtime_code *ret)
{
	return -ENOENT; /* the service of the test does not call it */
}

/* A process whose runtime finds code. */
static void begin_found(void)
{
	static const struct runtime_reader finds_code = {.engine = &engine_java,
							 .code_at = code_at};

	f.known.reader = &finds_code;
	begin();
	make_mapping(&f.run, ++f.time_ns, MADE_PID, FOUND & ~0xffffull, "//anon");
	round_of(50);
}

/* A sample whose leaf is in memory without known code. */
static void add_found_sample(uint64_t address)
{
	struct jitbpf_sample *sample;
	struct jitbpf_stack_copy *copy;

	add_first_sample(MADE_PID);
	sample = (struct jitbpf_sample *)f.run.records[f.run.record_count - 1];
	copy = (struct jitbpf_stack_copy *)&sample->words[1];
	sample->words[0] = copy->ip = address;
}

/* Returns the last event about found code, of a kind. */
static const struct jitbpf_code_event *found_event(uint16_t kind)
{
	const struct jitbpf_code_event *event = NULL, *last = NULL;

	while ((event = next_record(event, JITBPF_CODE_EVENT))) {
		if (event->publisher == JITBPF_PUBLISHER_FOUND && event->kind == kind)
			last = event;
	}
	return last;
}

static uint32_t count_samples(void)
{
	const void *at = NULL;
	uint32_t count = 0;

	while ((at = next_record(at, JITBPF_SAMPLE)))
		count++;
	return count;
}

/* The code is reported before the first sample in it, as of a time before that. */
CASE_WITH(test_found_code, set_up, tear_down)
{
	const struct jitbpf_code_event *event;
	const struct jitbpf_sample *sample;

	begin_found();
	add_found_sample(FOUND + 8);
	round_of(50);
	round_of(50);
	assert_int_equal(f.code_asked, 1);
	event = found_event(JITBPF_CODE_LOAD);
	sample = last_record(JITBPF_SAMPLE);
	assert_non_null(event);
	assert_int_equal(count_samples(), 2);
	assert_true((const void *)event < (const void *)sample);
	assert_true(sample->words[0] == FOUND + 8);
	assert_true(event->address == FOUND);
	assert_true(event->since_ns <= sample->h.time_ns);
	assert_int_equal(event->engine, engine_code_number(&engine_java));
	/* It is known now, and has nothing that needs a check. */
	add_found_sample(FOUND + 16);
	round_of(50);
	round_of(50);
	assert_int_equal(count_samples(), 3);
	assert_int_equal(f.code_asked, 1);
	assert_int_equal(f.checks_asked, 0);
}

/* Where there is no code of the runtime, the sample does not wait. */
CASE_WITH(test_no_code_found, set_up, tear_down)
{
	begin_found();
	f.code_error = -ENOENT;
	add_found_sample(FOUND + 8);
	add_found_sample(FOUND + 8);
	round_of(50);
	round_of(50);
	assert_int_equal(f.code_asked, 1);
	assert_null(found_event(JITBPF_CODE_LOAD));
	assert_int_equal(count_samples(), 3);
}

/* A sample in found code waits until its identity was seen after it. */
CASE_WITH(test_found_code_is_checked, set_up, tear_down)
{
	const struct jitbpf_sample *sample;

	f.identity = 5;
	begin_found();
	add_found_sample(FOUND + 8);
	round_of(50);
	round_of(50);
	assert_int_equal(count_samples(), 2);
	assert_int_equal(f.checks_asked, 0); /* the search came after the sample */
	f.holds_checks = true;
	add_found_sample(FOUND + 8);
	round_of(50);
	assert_int_equal(count_samples(), 2);
	assert_int_equal(f.checks_asked, 1);
	f.holds_checks = false;
	round_of(50);
	round_of(50);
	assert_int_equal(count_samples(), 3);
	sample = last_record(JITBPF_SAMPLE);
	assert_int_equal(sample->h.flags & JITBPF_SAMPLE_CODE_REPLACED, 0);
}

/* Other code has taken its place: the region ends, and later samples look for code again. */
CASE_WITH(test_found_code_is_replaced, set_up, tear_down)
{
	const struct jitbpf_code_event *replaced, *load;
	const struct jitbpf_sample *sample;
	uint64_t time_ns;

	f.identity = 5;
	begin_found();
	add_found_sample(FOUND + 8);
	round_of(50);
	round_of(50);
	load = found_event(JITBPF_CODE_LOAD);
	f.identity = 6;
	add_found_sample(FOUND + 8);
	time_ns = f.time_ns;
	round_of(50);
	round_of(50);
	replaced = found_event(JITBPF_CODE_REPLACED);
	sample = last_record(JITBPF_SAMPLE);
	assert_non_null(replaced);
	assert_int_equal(count_samples(), 3);
	assert_true((const void *)replaced < (const void *)sample);
	assert_true(replaced->h.time_ns > load->h.time_ns && replaced->h.time_ns <= time_ns);
	/* Either code may have run. */
	assert_int_equal(sample->h.flags & JITBPF_SAMPLE_CODE_REPLACED,
			 JITBPF_SAMPLE_CODE_REPLACED);
	add_found_sample(FOUND + 8);
	round_of(50);
	round_of(250);
	assert_int_equal(f.code_asked, 2);
	assert_true((const void *)found_event(JITBPF_CODE_LOAD) > (const void *)replaced);
	assert_int_equal(count_samples(), 4);
	sample = last_record(JITBPF_SAMPLE);
	assert_int_equal(sample->h.flags & JITBPF_SAMPLE_CODE_REPLACED, 0);
}

/* What a publisher has reported meanwhile stays. */
CASE_WITH(test_found_code_is_reported, set_up, tear_down)
{
	struct jitbpf_code_event *event;

	begin_found();
	f.holds = true;
	add_found_sample(FOUND + 8);
	round_of(50);
	event = make_record(&f.run, JITBPF_CODE_EVENT, sizeof(*event), ++f.time_ns);
	event->pid = MADE_PID;
	event->reported_ns = event->since_ns = event->h.time_ns;
	event->publisher = JITBPF_PUBLISHER_JITDUMP;
	event->kind = JITBPF_CODE_LOAD;
	event->address = FOUND + 0x40;
	event->code_bytes = 8;
	round_of(50);
	f.holds = false;
	round_of(50);
	round_of(50);
	assert_int_equal(f.code_asked, 1);
	assert_null(found_event(JITBPF_CODE_LOAD));
}
