/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * samples COUNT [KIND]: what the event loop does with samples. Records as of a live source, of two
 * processes, go through intake, recorder and analysis. KIND is what the processes run: "code" (JIT
 * code; the default), "native", or a number: CPython with a recursion of that many functions. The
 * stream is always the same, so that two trees can be compared by their instructions, as valgrind
 * counts them. Prints one figure a line.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/scope.h"
#include "pipeline/pipeline.h"
#include "tests/bench/bench.h"
#include "tests/unit/unwind/unread_tables.h"
#include "uapi/jit_record.h"

#define ROUND_NS	 50000000ull
#define SAMPLES_OF_ROUND 1000 /* of two CPUs at 9,999 Hz */
#define PROCESSES	 2
#define FIRST_PID	 100
#define METHODS		 128
#define METHOD_BYTES	 0x100
#define CODE		 0x500000ull
#define PROGRAM		 0x400000ull
#define PROGRAM_BYTES	 0x80000ull
#define KERNEL		 0xffffffff81000000ull
#define HOT_STACKS	 300
#define ALL_STACKS	 100000
#define FRAMES_MAX	 32

#define PYTHON_FRAMES 8 /* native ones: the interpreter's loop and its callers */
#define PYTHON_LOOP   (PROGRAM + 0x10000)
#define LOOP_BYTES    0x2000
#define LOOP_PLACES   200 /* sampled instructions of the loop */
#define STACK_TOP     0x7ffd00001000ull
#define OBJECT(n)     (0x7f0000000000ull + (n)*0x1000ull)
#define DEPTH_MAX     1000
#define REQUESTS_MAX  1024

enum kind { KIND_CODE, KIND_NATIVE, KIND_PYTHON };

struct stream {
	enum kind kind;
	uint32_t depth; /* of Python */
	uint64_t samples, done, time_ns;
	record_taker_fn take;
	void *take_context;
};

static void *begin(void *room, uint16_t type, size_t size_bytes, uint64_t time_ns)
{
	struct jitbpf_record *record = memset(room, 0, size_bytes);

	record->size_bytes = (uint32_t)size_bytes;
	record->type = type;
	record->time_ns = time_ns;
	return record;
}

static void put(const struct stream *stream, const void *record)
{
	require(!stream->take(stream->take_context, record));
}

static void put_mapping(const struct stream *stream, uint32_t pid, uint64_t address,
			uint64_t size_bytes, const char *path)
{
	union {
		struct jitbpf_mapping mapping;
		char room[sizeof(struct jitbpf_mapping) + 32];
	} u;

	begin(&u, JITBPF_MAPPING, sizeof(u), stream->time_ns);
	u.mapping.pid = u.mapping.tid = pid;
	u.mapping.address = address;
	u.mapping.size_bytes = size_bytes;
	u.mapping.inode = address == PROGRAM ? 1 : 0;
	snprintf(u.mapping.path, 32, "%s", path);
	put(stream, &u);
}

static void put_load(const struct stream *stream, uint32_t pid, uint32_t number)
{
	union {
		struct jitbpf_jit jit;
		uint64_t room[32];
	} u;
	char name[32];
	struct jitbpf_jit_field field = {
		.type = JITBPF_JIT_NAME,
		.size_bytes = (uint32_t)snprintf(name, sizeof(name), "method%u", number)};
	struct jitbpf_jit_header header = {
		.size_bytes = (uint32_t)(sizeof(header) + sizeof(field) + field.size_bytes),
		.version = JITBPF_JIT_VERSION,
		.event = 13,
		.sequence = number,
		.time_ns = stream->time_ns,
		.part_count = 1,
		.tid = pid,
		.method_id = number + 1,
		.address = CODE + number * METHOD_BYTES,
		.code_bytes = METHOD_BYTES,
	};
	uint8_t *at;

	begin(&u, JITBPF_JIT, sizeof(u.jit) + header.size_bytes, stream->time_ns);
	u.jit.pid = u.jit.tid = pid;
	u.jit.data_bytes = header.size_bytes;
	at = mempcpy(u.jit.data, &header, sizeof(header));
	at = mempcpy(at, &field, sizeof(field));
	memcpy(at, name, field.size_bytes);
	put(stream, &u);
}

/* A sample whose stack has to be walked tells the recorder where the stack ends. */
static void put_python_start(const struct stream *stream, uint32_t pid)
{
	union {
		struct jitbpf_sample sample;
		uint64_t room[64];
	} u;
	struct jitbpf_stack_copy *copy = (struct jitbpf_stack_copy *)&u.sample.words[1];

	begin(&u, JITBPF_SAMPLE, sizeof(u.sample) + 8 + sizeof(*copy) + 16, stream->time_ns);
	u.sample.h.flags = JITBPF_SAMPLE_STACK_COPY;
	u.sample.pid = u.sample.tid = pid;
	u.sample.user_words = 1;
	u.sample.user_end = JITBPF_END_NO_RULE;
	u.sample.words[0] = copy->ip = PROGRAM;
	copy->sp = copy->bp = STACK_TOP - 16;
	copy->stack_top = STACK_TOP;
	copy->size_bytes = 16;
	put(stream, &u);
}

static void put_processes(const struct stream *stream)
{
	for (uint32_t pid = FIRST_PID; pid < FIRST_PID + PROCESSES; pid++) {
		struct jitbpf_task task;

		begin(&task, JITBPF_FORK, sizeof(task), stream->time_ns);
		task.pid = task.tid = pid;
		task.parent_pid = 1;
		put(stream, &task);
		put_mapping(stream, pid, PROGRAM, PROGRAM_BYTES,
			    stream->kind == KIND_PYTHON ? "/usr/bin/python3.11"
							: "/usr/bin/program");
		put_mapping(stream, pid, CODE, METHODS * METHOD_BYTES,
			    stream->kind == KIND_CODE ? "//anon" : "/usr/lib/libprogram.so");
		for (uint32_t number = 0; stream->kind == KIND_CODE && number < METHODS; number++)
			put_load(stream, pid, number);
		if (stream->kind == KIND_PYTHON)
			put_python_start(stream, pid);
	}
}

/* The frames of a stack follow from its number. Outer frames are those of few call sites. */
static uint64_t frame_of(uint32_t stack, uint32_t frame)
{
	uint64_t random = hash_mix(frame < 3 ? stack : stack % 8, frame + 1);

	if (frame % 3 == 2)
		return PROGRAM + random % PROGRAM_BYTES;
	return CODE + random % (METHODS * METHOD_BYTES);
}

/*
 * Function 0 has called itself, and then function 1, which is where most samples are. All run in
 * one frame of the interpreter's loop.
 */
static void put_python_sample(const struct stream *stream)
{
	union {
		struct jitbpf_sample sample;
		uint64_t room[sizeof(struct jitbpf_sample) / 8 + PYTHON_FRAMES + 1 +
			      sizeof(struct jitbpf_runtime_frames) / 8 +
			      DEPTH_MAX * sizeof(struct runtime_frame) / 8];
	} u;
	uint32_t random = random_below(1000), native = PYTHON_FRAMES + (random % 5 == 0);
	struct jitbpf_runtime_frames *part = (void *)&u.sample.words[native];
	uint64_t *ip = (uint64_t *)u.sample.words;

	begin(&u, JITBPF_SAMPLE,
	      sizeof(u.sample) + native * 8 + sizeof(*part) +
		      stream->depth * sizeof(struct runtime_frame),
	      stream->time_ns);
	u.sample.h.flags = JITBPF_SAMPLE_RUNTIME_FRAMES;
	u.sample.pid = u.sample.tid = FIRST_PID + random % PROCESSES;
	u.sample.cpu = random % PROCESSES;
	u.sample.user_words = (uint16_t)native;
	u.sample.user_end = JITBPF_END_ROOT;
	memcpy(u.sample.comm, "python3", sizeof("python3"));
	if (native > PYTHON_FRAMES)
		*ip++ = PROGRAM + random % 64 * 16;
	*ip++ = PYTHON_LOOP + random % LOOP_PLACES * (LOOP_BYTES / LOOP_PLACES) + 1;
	for (uint32_t i = 1; i < PYTHON_FRAMES; i++)
		*ip++ = PYTHON_LOOP + LOOP_BYTES + i * 0x100;
	part->count = stream->depth;
	part->recipe = 1 + u.sample.pid - FIRST_PID;
	part->end = JITBPF_RUNTIME_ROOT;
	for (uint32_t i = 0; i < stream->depth; i++)
		part->frames[i] = (struct runtime_frame){
			.function = OBJECT(!i), .position = OBJECT(!i) + 0x80, .check = 2};
	part->frames[0].position += random % 10 * 2;
	part->frames[stream->depth - 1].check |= 1;
	put(stream, &u);
}

/* The innermost frame is in JIT code, so the sample comes with the bytes of code around it. */
static void put_sample(const struct stream *stream)
{
	union {
		struct jitbpf_sample sample;
		uint64_t room[sizeof(struct jitbpf_sample) / 8 + FRAMES_MAX +
			      sizeof(struct jitbpf_code_bytes) / 8];
	} u;
	uint32_t stack = random_below(random_below(5) ? HOT_STACKS : ALL_STACKS);
	uint32_t kernel = stack % 8 ? 0 : 6, user = 6 + stack % 9;
	struct jitbpf_code_bytes *seen = (void *)&u.sample.words[kernel + user];

	begin(&u, JITBPF_SAMPLE,
	      sizeof(u.sample) + (kernel + user) * sizeof(uint64_t) +
		      (stream->kind == KIND_CODE ? sizeof(*seen) : 0),
	      stream->time_ns);
	u.sample.h.flags = stream->kind == KIND_CODE ? JITBPF_SAMPLE_CODE_BYTES : 0;
	u.sample.pid = u.sample.tid = FIRST_PID + stack % PROCESSES;
	u.sample.kernel_words = (uint16_t)kernel;
	u.sample.user_words = (uint16_t)user;
	u.sample.user_end = JITBPF_END_ROOT;
	memcpy(u.sample.comm, "program", sizeof("program"));
	for (uint32_t i = 0; i < kernel; i++)
		u.sample.words[i] = KERNEL + hash_mix(stack % 64, i) % 0x1000000;
	for (uint32_t i = 0; i < user; i++)
		u.sample.words[kernel + i] = frame_of(stack, i);
	if (stream->kind == KIND_CODE)
		seen->address = u.sample.words[kernel] & ~(uint64_t)(JITBPF_CODE_BYTES - 1);
	put(stream, &u);
}

static int drain(void *context, record_taker_fn take, void *take_context, uint64_t *ret_time_ns)
{
	struct stream *stream = context;
	uint64_t end_ns = stream->time_ns + ROUND_NS;

	stream->take = take;
	stream->take_context = take_context;
	if (!stream->done)
		put_processes(stream);
	for (int i = 0; i < SAMPLES_OF_ROUND && stream->done < stream->samples; i++) {
		stream->time_ns += ROUND_NS / SAMPLES_OF_ROUND;
		if (stream->kind == KIND_PYTHON)
			put_python_sample(stream);
		else
			put_sample(stream);
		stream->done++;
	}
	*ret_time_ns = stream->time_ns = end_ns;
	return stream->done < stream->samples ? SOURCE_ROUND : SOURCE_END;
}

/* --- the services: no stack of the stream needs rows, and its code is not in doubt ------------ */

struct requests {
	struct unwind_request pending[REQUESTS_MAX];
	uint32_t count;
	struct runtime_known known;
};

static int request(void *context, const struct unwind_request *wanted)
{
	struct requests *requests = context;

	if (requests->count == REQUESTS_MAX)
		return -ENOMEM;
	requests->pending[requests->count++] = *wanted;
	return 0;
}

static int answer(struct requests *requests, const struct unwind_request *asked,
		  unwind_taker_fn take, void *take_context)
{
	static struct runtime_line lines[] = {{0, 10}, {8, 11}, {16, 12}};
	char name[32];
	const struct runtime_function function = {
		.name = name,
		.file = "program.py",
		.first_line = 9,
		.lines = {.data = lines, .size = 3},
		.code = asked->function.object + 0x80,
		.check = asked->function.check,
	};
	struct unwind_answer answer = {.request = *asked, .error = -EIO};

	snprintf(name, sizeof(name), "f%llx", (unsigned long long)asked->function.object);
	if (asked->kind == UNWIND_RUNTIME_RECIPE || asked->kind == UNWIND_RUNTIME_FUNCTION)
		answer.error = 0;
	if (asked->kind == UNWIND_RUNTIME_RECIPE)
		answer.known = &requests->known;
	if (asked->kind == UNWIND_RUNTIME_FUNCTION)
		answer.function = &function;
	return take(take_context, &answer);
}

static int collect(void *context, uint64_t wait_ns, unwind_taker_fn take, void *take_context)
{
	struct requests *requests = context;
	uint32_t count = requests->count;
	int err = 0;

	requests->count = 0;
	for (uint32_t i = 0; i < count && !err; i++) {
		const struct unwind_request asked = requests->pending[i];

		err = answer(requests, &asked, take, take_context);
	}
	return err;
}

static const struct runtime_known python = {
	.version = {.part = {3, 11, 2}, .parts = 3},
	.recipe =
		{
			.previous_at = 48,
			.position_at = 56,
			.position_mask = UINT64_MAX,
			.entry_at = 74,
			.check = {.size_bytes = 16},
			.loops = {{PYTHON_LOOP, PYTHON_LOOP + LOOP_BYTES, 0, 0}},
			.loop_count = 1,
		},
};

static void choose(struct stream *stream, const char *kind)
{
	if (!kind || !strcmp(kind, "code"))
		return;
	stream->kind = strcmp(kind, "native") ? KIND_PYTHON : KIND_NATIVE;
	stream->depth = (uint32_t)strtoul(kind, NULL, 10);
	require(stream->kind != KIND_PYTHON || (stream->depth && stream->depth <= DEPTH_MAX));
}

static void print(const struct stream *stream, double began_ms, const struct recorder *recorder)
{
	printf("cpu_us %f\n", (now_ms() - began_ms) * 1e3 / (double)stream->samples);
	printf("bytes %f\n", (double)recorder_bytes(recorder) / (double)stream->samples);
	printf("resident_kb %lu\n", resident_kb());
}

int main(int argc, char **argv)
{
	struct stream stream = {.time_ns = 1000000000};
	const struct source source = {.drain = drain, .context = &stream};
	static struct requests requests;
	static struct unwind_row rows[1u << 14];
	static struct unwind_mapping mappings[256];
	const struct unwind_service service = {request, collect, &requests};
	const struct unwind_tables tables = {
		.rows = rows,
		.mappings = mappings,
		.row_count = ARRAY_SIZE(rows),
		.mapping_count = ARRAY_SIZE(mappings),
		.publish_page = unread_publish_page,
		.replace_page = unread_publish_page,
		.publish_process = unread_publish_process,
		.unpublish_page = unread_unpublish_page,
		.unpublish_process = unread_unpublish,
		.publish_recipe = unread_publish_recipe,
		.unpublish_recipe = unread_unpublish,
		.found_functions = unread_found_functions,
		.skip_program = unread_skip_program,
	};
	const struct pipeline_options options = {.unwind_service = &service,
						 .unwind_tables = &tables};
	const struct run_info info = {
		.start_ns = 1000000000, .event = "", .command = "", .host = "", .kernel = ""};
	FILE *out = fopen("/dev/null", "w");
	struct recorder *recorder;
	struct pipeline *pipeline;
	double began_ms;
	int state;

	require((argc == 2 || argc == 3) && out && !pipeline_create(&options, &pipeline));
	choose(&stream, argv[2]);
	requests.known = python;
	require(!pipeline_set_info(pipeline, &info) && !recorder_create(out, &info, &recorder));
	stream.samples = strtoull(argv[1], NULL, 10);
	began_ms = now_ms();
	do
		state = pipeline_round(pipeline, &source, recorder);
	while (state > 0);
	require(!state && !pipeline_recorder_error(pipeline) && !pipeline_finish(pipeline));
	require(pipeline_progress(pipeline).samples >= stream.samples);
	require(stream.kind != KIND_PYTHON ||
		pipeline_view(pipeline)->ledger->samples.runtime_functions >=
			stream.samples * 9 / 10);
	print(&stream, began_ms, recorder);
	recorder_destroy(recorder);
	pipeline_destroy(pipeline);
	fclose(out);
	return 0;
}
