/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Write a recording with many call paths, for measurements of what reads it:
 *
 *   paths build SAMPLES FILE       as of a large build: short processes of a few commands, whose
 *                                  stacks have outer frames in common; one sample in four is of a
 *                                  new stack
 *   paths different SAMPLES FILE   one process whose stacks are all different, 42 deep
 *
 * Deterministic.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/pipeline.h"

#define PROGRAM	      0x400000
#define PROGRAM_BYTES (16u << 20)
#define FIRST_NS      1000000000ull
#define PERIOD_NS     1001001ull
#define DEPTH	      42
#define FUNCTIONS     4096
#define CALLS	      4	 /* call sites of a function */
#define LIFE	      60 /* samples of a process */
#define KEPT	      8	 /* stacks of a process that it can have again */

struct made {
	record_taker_fn take; /* of the drain */
	void *take_context;
	bool build;
	uint64_t samples, left; /* of samples */
	uint64_t time_ns;
	uint64_t random;
	uint32_t pid;
	const char *command;
	struct kept {
		uint64_t frames[DEPTH];
		uint16_t count;
	} kept[KEPT];
	uint32_t stacks; /* of the process */
};

static void require(int err)
{
	if (!err)
		return;
	fprintf(stderr, "paths: %s\n", strerror(-err));
	exit(1);
}

static uint32_t draw(struct made *made, uint32_t below)
{
	made->random = made->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((made->random >> 33) % below);
}

static void begin(struct made *made, void *record, uint16_t type, size_t size_bytes)
{
	struct jitbpf_record *h = memset(record, 0, size_bytes);

	h->size_bytes = (uint32_t)size_bytes;
	h->type = type;
	h->time_ns = made->time_ns;
}

static void begin_process(struct made *made)
{
	union {
		struct jitbpf_mapping mapping;
		char room[sizeof(struct jitbpf_mapping) + 40];
	} u;

	made->pid++;
	made->stacks = 0;
	begin(made, &u, JITBPF_MAPPING, sizeof(u));
	u.mapping.pid = u.mapping.tid = made->pid;
	u.mapping.start_ns = made->pid;
	u.mapping.address = PROGRAM;
	u.mapping.size_bytes = PROGRAM_BYTES;
	u.mapping.inode = 1;
	snprintf(u.mapping.path, 40, "/build/%s", made->command);
	require(made->take(made->take_context, &u.mapping.h));
}

static void end_process(struct made *made)
{
	struct jitbpf_task task;

	begin(made, &task, JITBPF_EXIT, sizeof(task));
	task.pid = task.tid = made->pid;
	require(made->take(made->take_context, &task.h));
}

/* frames: innermost first */
static void put_sample(struct made *made, const uint64_t *frames, uint16_t count)
{
	union {
		struct jitbpf_sample sample;
		uint64_t room[JITBPF_SAMPLE_WORDS_MAX];
	} u;

	made->time_ns += PERIOD_NS;
	begin(made, &u, JITBPF_SAMPLE, sizeof(u.sample) + count * sizeof(uint64_t));
	u.sample.pid = u.sample.tid = made->pid;
	u.sample.start_ns = made->pid;
	u.sample.user_words = count;
	u.sample.user_end = JITBPF_END_ROOT;
	snprintf(u.sample.comm, sizeof(u.sample.comm), "%s", made->command);
	memcpy(u.sample.words, frames, count * sizeof(uint64_t));
	require(made->take(made->take_context, &u.sample.h));
}

static uint64_t address_of(uint32_t function, uint32_t offset)
{
	return PROGRAM + (uint64_t)function * 256 + offset;
}

/* A walk through a graph of calls: a function calls few others, most often the first one. */
static void make_stack(struct made *made, struct kept *ret)
{
	uint32_t function = 0, at = 0, depth = 8 + draw(made, DEPTH - 8);
	uint64_t *leaf = ret->frames + depth - 1;

	for (ret->count = (uint16_t)depth; at < depth; at++) {
		uint32_t call = draw(made, 10), calls = call < 7 ? 0 : 1 + call % (CALLS - 1);

		*leaf-- = address_of(function, 16 + calls * 16 + 1);
		function = (function * CALLS + calls * 7 + 1) % FUNCTIONS;
	}
}

static void put_stack_of_build(struct made *made)
{
	bool fresh = !made->stacks || !draw(made, 4);
	uint32_t used = made->stacks < KEPT ? made->stacks : KEPT;
	struct kept *stack = &made->kept[fresh ? made->stacks++ % KEPT : draw(made, used)];

	if (fresh)
		make_stack(made, stack);
	put_sample(made, stack->frames, stack->count);
}

static void put_different_stack(struct made *made)
{
	uint64_t frames[DEPTH];

	for (uint32_t i = 0; i < DEPTH; i++)
		frames[i] = address_of(draw(made, 16), 1);
	put_sample(made, frames, DEPTH);
}

/* Implement struct source: 100 samples. */
static int make_round(void *context, record_taker_fn take, void *take_context,
		      uint64_t *ret_time_ns)
{
	static const char *const commands[] = {"cc1", "cc1", "cc1", "sh", "as", "ld", "fixdep"};
	struct made *made = context;

	made->take = take;
	made->take_context = take_context;
	if (made->left == made->samples) {
		made->command = made->build ? *commands : "different";
		begin_process(made);
	}
	do {
		if (made->build)
			put_stack_of_build(made);
		else
			put_different_stack(made);
		made->left--;
		if (made->build && (made->samples - made->left) % LIFE == 0) {
			end_process(made);
			made->command = commands[draw(made, sizeof(commands) / sizeof(*commands))];
			begin_process(made);
		}
	} while (made->left && made->left % 100);
	*ret_time_ns = made->time_ns;
	return made->left ? SOURCE_ROUND : SOURCE_END;
}

/* Implement struct symbol_service: each function of a program has a name. */
struct named {
	VEC(struct symbol_request) requests;
};

static int request(void *context, uint64_t ticket, const struct location *what,
		   const struct module *module)
{
	struct named *named = context;

	return vec_push(&named->requests,
			((struct symbol_request){
				.ticket = ticket, .offset = what->offset, .module = module}));
}

static int collect(void *context, bool wait, symbol_taker_fn take, void *take_context)
{
	struct named *named = context;
	int err = 0;

	vec_for_each (request, &named->requests) {
		char name[64];
		const struct symbol_frame frame = {
			.name = name,
			.module = request->module ? request->module->path : "",
			.symbol_offset = request->offset % 256,
		};

		snprintf(name, sizeof(name), "some_function_of_the_program_%llu",
			 (unsigned long long)request->offset / 256);
		err = err ?: take(take_context, request->ticket, &frame, 1);
	}
	named->requests.size = 0;
	return err;
}

int main(int argc, char **argv)
{
	const struct run_info info = {.start_ns = FIRST_NS,
				      .freq_hz = 999,
				      .event = "",
				      .command = "",
				      .host = "",
				      .kernel = ""};
	struct made made = {.time_ns = FIRST_NS, .random = 1, .pid = 1000};
	const struct source source = {.drain = make_round, .context = &made, .finished = true};
	struct named named = {0};
	const struct symbol_service symbols = {
		.request = request, .collect = collect, .context = &named};
	struct recorder *recorder;
	struct pipeline *pipeline;
	int state;
	FILE *out;

	if (argc != 4) {
		fprintf(stderr, "usage: paths build|different SAMPLES FILE\n");
		return 2;
	}
	made.build = !strcmp(argv[1], "build");
	made.samples = made.left = strtoull(argv[2], NULL, 10);
	out = fopen(argv[3], "w");
	require(out ? 0 : -errno);
	require(pipeline_create(
		&(struct pipeline_options){.analysis = {.symbols = &symbols, .no_paths = true}},
		&pipeline));
	require(pipeline_set_info(pipeline, &info));
	require(recorder_create(out, &info, &recorder));
	do {
		state = pipeline_round(pipeline, &source, recorder);
		require(state < 0 ? state : 0);
	} while (state != SOURCE_END);
	require(pipeline_recorder_error(pipeline));
	require(pipeline_finish(pipeline));
	require(recorder_finish(recorder, pipeline_view(pipeline), pipeline_modules(pipeline)));
	recorder_destroy(recorder);
	pipeline_destroy(pipeline);
	vec_deinit(&named.requests);
	return fclose(out) ? 1 : 0;
}
