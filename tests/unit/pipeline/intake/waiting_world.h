/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random samples that wait in intake, with the real unwinder, the same for the same seed: stacks
 * through files, JIT code and code that a virtual machine reports late; code that is loaded, ended,
 * and replaced without a report. The finished records of a run are kept.
 */
#ifndef JITBPF_TESTS_UNIT_PIPELINE_INTAKE_WAITING_WORLD_H
#define JITBPF_TESTS_UNIT_PIPELINE_INTAKE_WAITING_WORLD_H

#include "pipeline/intake/intake_state.h"
#include "pipeline/pipeline_state.h"
#include "tests/unit/pipeline/intake/waiting_service.h"
#include "tests/unit/pipeline/made_run.h"
#include "tests/unit/unwind/unread_tables.h"

#define WORLD_FILES	 3
#define WORLD_FILE	 0x10000000ull /* address of the first file; others follow, 1 MB apart */
#define WORLD_FILE_BYTES 0x80000
#define WORLD_STACK	 0x7ffd00000000ull
#define WORLD_WORDS_MAX	 48
#define WORLD_ROWS	 (1u << 14)
#define WORLD_MAPPINGS	 256

struct world_record {
	size_t offset;	/* in the stream */
	uint64_t round; /* in which it came */
};

struct world {
	struct made_run run;
	struct record_consumer consumer; /* of intake: the analysis */
	uint64_t random, time_ns;
	uint64_t sequence[WORLD_PROCESSES];
	uint32_t begun; /* short-lived processes */

	struct unwind_row rows[WORLD_ROWS];
	struct unwind_mapping mappings[WORLD_MAPPINGS];

	VEC(uint8_t) stream; /* the finished records */
	VEC(struct world_record) records;
};

static struct world world;

static inline uint32_t world_below(uint32_t limit)
{
	world.random ^= world.random << 13;
	world.random ^= world.random >> 7;
	world.random ^= world.random << 17;
	return (uint32_t)((world.random >> 32) % limit);
}

/* --- records --------------------------------------------------------------------------- */

static inline uint32_t world_process(void)
{
	return world_below(WORLD_PROCESSES);
}

static inline bool world_is_jvm(uint32_t process)
{
	return process >= WORLD_PROCESSES / 2;
}

static inline uint64_t world_code_address(void)
{
	switch (world_below(8)) {
	case 0:
		return 0x1000 + world_below(64); /* nothing is mapped */
	case 1:
	case 2:
	case 3:
		return WORLD_FILE + world_below(WORLD_FILES) * (1ull << 20) +
		       world_below(WORLD_FILE_BYTES / 64) * 64ull;
	default:
		return world_slot_address(world_below(WORLD_SLOTS)) + 1 +
		       world_below(WORLD_SLOT_BYTES - 1);
	}
}

/* A copy of the code of the last load. */
static inline void world_copy(uint32_t process, uint32_t slot, uint16_t publisher,
			      uint64_t sequence)
{
	struct jitbpf_code *code = make_record(&world.run, JITBPF_CODE,
					       sizeof(*code) + WORLD_SLOT_BYTES, world.time_ns);

	code->h.flags = publisher;
	code->pid = MADE_PID + process;
	code->start_ns = MADE_START;
	code->sequence = sequence;
	code->address = world_slot_address(slot);
	code->size_bytes = WORLD_SLOT_BYTES;
	world_memory(code->pid, code->address, code->data, WORLD_SLOT_BYTES);
}

static inline void world_load(void)
{
	uint32_t process = world_process(), slot = world_below(WORLD_SLOTS);
	uint64_t sequence = world.sequence[process]++;
	bool jvm = world_is_jvm(process), ends = !world_below(4);
	struct jitbpf_jit_header *header;
	char name[32];

	snprintf(name, sizeof(name), "m%u", (unsigned)sequence);
	header = make_jit_of(&world.run, world.time_ns, MADE_PID + process, MADE_START, sequence,
			     ends ? "" : name);
	header->method_id = slot + 1;
	header->address = world_slot_address(slot);
	header->code_bytes = WORLD_SLOT_BYTES;
	header->event = ends ? (jvm ? JIT_EVENT_JVM_UNLOAD : JIT_EVENT_UNLOAD)
			     : (jvm ? JIT_EVENT_JVM_LOAD : JIT_EVENT_LOAD);
	if (ends)
		return;
	waiting_service.content[process][slot] = world_of(process, sequence) | 1;
	if (world_below(3))
		world_copy(process, slot, jvm ? JITBPF_PUBLISHER_JVMTI : JITBPF_PUBLISHER_SHIM,
			   sequence);
}

/* Other code in a slot, without a report. */
static inline void world_replace(void)
{
	waiting_service.content[world_process()][world_below(WORLD_SLOTS)] =
		world_of(world.time_ns, 7) | 1;
}

/* The bytes around a frame in code, which may be from before the memory changed. */
static inline void world_bytes(struct jitbpf_code_bytes *ret, uint32_t pid, uint64_t address)
{
	ret->address = address & ~(JITBPF_CODE_BYTES - 1ull);
	world_memory(pid, ret->address, ret->bytes, sizeof(ret->bytes));
	if (!world_below(8))
		ret->bytes[address % JITBPF_CODE_BYTES] ^= 0x55;
}

static inline void world_fill(uint64_t *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		words[i] = world_code_address();
		if (!world_below(6))
			words[i] = WORLD_STACK + 8ull * (i + world_below(count - i));
	}
}

static inline void world_sample(void)
{
	uint32_t process = world_process(), words = 1 + world_below(WORLD_WORDS_MAX);
	uint32_t frames = 1 + world_below(3), kernel = world_below(4) ? 0 : 2;
	bool bytes = !world_below(3), copy = world_below(4), regs = !world_below(8);
	size_t size_bytes = sizeof(struct jitbpf_sample) + (kernel + frames) * 8ul;
	struct jitbpf_stack_copy *stack;
	struct jitbpf_sample *sample;
	uint8_t *at;

	size_bytes += regs ? sizeof(struct jitbpf_user_regs) : 0;
	size_bytes += bytes ? sizeof(struct jitbpf_code_bytes) : 0;
	size_bytes += copy ? sizeof(*stack) + words * 8ul : 0;
	sample = make_record(&world.run, JITBPF_SAMPLE, size_bytes, world.time_ns);
	sample->h.flags = (bytes ? JITBPF_SAMPLE_CODE_BYTES : 0) |
			  (copy ? JITBPF_SAMPLE_STACK_COPY : 0) |
			  (regs ? JITBPF_SAMPLE_USER_REGS : 0);
	sample->pid = sample->tid = MADE_PID + process;
	sample->start_ns = MADE_START;
	sample->kernel_words = (uint16_t)kernel;
	sample->user_words = (uint16_t)frames;
	sample->user_end = copy ? JITBPF_END_NO_RULE : JITBPF_END_ROOT;
	sample->mappings_age_ns = world_below(4) ? 0 : 1 + world_below(1000000);
	strcpy(sample->comm, "thread");
	for (uint32_t i = 0; i < kernel; i++)
		sample->words[i] = 0xffffffff81000000ull + i;
	for (uint32_t i = kernel; i < kernel + frames; i++)
		sample->words[i] = world_code_address();
	at = (uint8_t *)&sample->words[kernel + frames];
	if (regs)
		memcpy(at, &world.time_ns, 8);
	at += regs ? sizeof(struct jitbpf_user_regs) : 0;
	if (bytes)
		world_bytes((struct jitbpf_code_bytes *)at, sample->pid, sample->words[kernel]);
	at += bytes ? sizeof(struct jitbpf_code_bytes) : 0;
	if (!copy)
		return;
	stack = (struct jitbpf_stack_copy *)at;
	stack->ip = sample->words[kernel + frames - 1];
	stack->is_caller = frames > 1;
	stack->sp = WORLD_STACK;
	stack->bp = WORLD_STACK + 8ull * world_below(words);
	stack->stack_top = WORLD_STACK + words * 8ull;
	stack->size_bytes = words * 8;
	world_fill((uint64_t *)stack->data, words);
}

static inline void world_map(uint32_t pid, uint32_t file)
{
	char path[32];
	struct jitbpf_mapping *mapping;

	snprintf(path, sizeof(path), "/lib/%u.so", file);
	mapping = make_mapping(&world.run, world.time_ns, pid,
			       WORLD_FILE + (file % WORLD_FILES) * (1ull << 20), path);
	mapping->inode = 10 + file;
	mapping->start_ns = MADE_START;
	mapping->size_bytes = WORLD_FILE_BYTES;
}

static inline void world_map_code(uint32_t pid)
{
	make_mapping(&world.run, world.time_ns, pid, MADE_CODE, "//anon")->start_ns = MADE_START;
}

static inline void world_owner(uint32_t process)
{
	struct jitbpf_owner *owner =
		make_record(&world.run, JITBPF_OWNER, sizeof(*owner), world.time_ns);

	owner->pid = MADE_PID + process;
	owner->charged_uid = 1000 + process % 3;
}

/* A process that is forked and exits, or another program in one that goes on. */
static inline void world_rare(void)
{
	uint32_t process = world_process(), pid = 1000 + world.begun++;

	switch (world_below(6)) {
	case 0:
		make_task(&world.run, JITBPF_FORK, world.time_ns, pid, MADE_PID + process);
		make_task(&world.run, JITBPF_EXIT, ++world.time_ns, pid, 0);
		break;
	case 1:
		world_map(MADE_PID + process, world_below(2 * WORLD_FILES));
		break;
	case 2:
		if (world_below(4))
			break;
		make_comm(&world.run, world.time_ns, MADE_PID + process, "other", true);
		for (uint32_t i = 0; i < WORLD_FILES; i++)
			world_map(MADE_PID + process, i);
		world_map_code(MADE_PID + process);
		break;
	default:
		world_map_code(MADE_PID + process);
	}
}

/* Returns a finished record of the run. */
static inline const struct jitbpf_record *world_record(size_t number)
{
	return (const void *)(world.stream.data + world.records.data[number].offset);
}

/* --- a run -------------------------------------------------------------------------------- */

static inline int world_keep(void *context, const struct jitbpf_record *record)
{
	size_t at = (world.stream.size + 7) & ~7ul;

	made_require(!vec_push(&world.records, ((struct world_record){at, waiting_service.turn})));
	made_require(!vec_reserve(&world.stream, at + record->size_bytes));
	memcpy(world.stream.data + at, record, record->size_bytes);
	world.stream.size = at + record->size_bytes;
	return world.consumer.take(context, record);
}

/* polls: see struct waiting_samples. */
static inline void world_begin(uint64_t seed, bool polls)
{
	const struct unwind_service service = {world_request, world_collect, NULL};
	const struct unwind_tables tables = {
		.rows = world.rows,
		.mappings = world.mappings,
		.row_count = WORLD_ROWS,
		.mapping_count = WORLD_MAPPINGS,
		.publish_page = unread_publish_page,
		.replace_page = unread_publish_page,
		.publish_process = unread_publish_process,
		.unpublish_page = unread_unpublish_page,
		.unpublish_process = unread_unpublish,
	};
	const struct pipeline_options options = {.unwind_service = &service,
						 .unwind_tables = &tables};
	struct intake *intake;

	memset(&world, 0, sizeof(world));
	world.random = seed * 0x9e3779b97f4a7c15ull + 1;
	world.time_ns = 1000000000;
	waiting_service = (struct waiting_service){.seed = seed, .busy = seed % 4 == 0};
	made_run_begin_bare(&world.run, &options);
	intake = world.run.pipeline->intake;
	world.consumer = intake->consumer;
	intake->consumer.take = world_keep;
	intake->waiting.polls = polls;
	for (uint32_t process = 0; process < WORLD_PROCESSES; process++) {
		for (uint32_t i = 0; i < WORLD_FILES; i++)
			world_map(MADE_PID + process, i);
		world_map_code(MADE_PID + process);
		world_owner(process);
	}
}

/* One round of up to `records` records, over some milliseconds. */
static inline void world_round(uint32_t records)
{
	for (uint32_t i = 0; i < records && world.run.record_count + 8 < MADE_RECORDS_MAX; i++) {
		uint32_t kind = world_below(100);

		world.time_ns += 1 + world_below(4000000);
		if (kind < 20)
			world_load();
		else if (kind < 23)
			world_replace();
		else if (kind < 26)
			world_rare();
		else
			world_sample();
	}
	world.time_ns += 1 + world_below(20000000);
	waiting_service.time_ns = world.time_ns;
	waiting_service.turn++;
	made_round(&world.run, world.time_ns);
}

/* Returns the ledger. world_end() ends the run. */
static inline const struct ledger *world_finish(void)
{
	waiting_service.turn++;
	waiting_service.time_ns = ++world.time_ns;
	return made_finish(&world.run, world.time_ns);
}

static inline void world_end(void)
{
	made_run_end(&world.run);
	vec_deinit(&waiting_service.requests);
	vec_deinit(&world.stream);
	vec_deinit(&world.records);
}

#endif
