/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks are located with a cache as they are without one, whatever changes between them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "locate/locate.h"
#include "state/process/runtime_functions.h"
#include "tests/unit/cases.h"
#include "tests/unit/state/apply_jit.h"
#include "tests/unit/state/made_mapping.h"

#define PID	  100
#define PROCESSES 2
#define CODE	  0x500000
#define SLOTS	  16
#define SLOT	  0x40 /* bytes */
#define KERNEL	  0xffffffff81000000ull
#define STACKS	  20000
#define DEPTH	  24 /* words of a deep stack */
#define FUNCTIONS 4  /* of a runtime */

struct fixture {
	struct string_pool *strings;
	struct module_table modules;
	struct process_table processes;
	struct process *process[PROCESSES];
	struct space_map *kernel_code;
	struct runtime_functions functions;
	struct global_code global;
	struct location_table tables[2];
	struct frame_cache cache;
	struct located_words last;
	uint32_t reused;      /* stacks that have words in common with the one before */
	uint64_t deep[DEPTH]; /* the words of the last deep stack, at the end */
	struct located_stack with, without;
	uint64_t time_ns, changed_ns, known;
	uint64_t random;
};

static uint32_t below(struct fixture *f, uint32_t limit)
{
	f->random ^= f->random << 13;
	f->random ^= f->random >> 7;
	f->random ^= f->random << 17;
	return (uint32_t)((f->random >> 32) % limit);
}

/* A time up to now, which may be before the last change. */
static uint64_t some_time(struct fixture *f)
{
	return f->time_ns - (below(f, 4) ? 0 : below(f, 20));
}

static void changed(struct fixture *f, uint64_t time_ns)
{
	if (time_ns > f->changed_ns)
		f->changed_ns = time_ns;
}

static void map(struct fixture *f, uint32_t process, uint64_t address, const char *path)
{
	struct made_mapping made;

	made_mapping(&made, path, *path == '/' && path[1] == '/' ? 0 : (uint64_t)path[5], "");
	made.mapping.pid = made.mapping.tid = PID + process;
	made.mapping.h.time_ns = some_time(f);
	made.mapping.address = address;
	made.mapping.size_bytes = SLOT;
	assert_int_equal(process_table_map(&f->processes, &made.mapping), 0);
	changed(f, made.mapping.h.time_ns);
}

static void load(struct fixture *f, uint32_t process)
{
	struct jit_event event = {
		.header = {.event = below(f, 3) ? JIT_EVENT_LOAD : JIT_EVENT_UNLOAD,
			   .method_id = 1 + below(f, 50),
			   .address = CODE + below(f, SLOTS) * SLOT,
			   .code_bytes = SLOT},
		.name = {"method", 6}};
	struct code_event load = code_event_of(&event, event.header.caller, some_time(f));
	struct process *of = f->process[process];

	assert_int_equal(code_map_apply(of->code, of->account, &load), 0);
	changed(f, load.time_ns);
}

static void kernel_code_free(struct space_value *value)
{
	free(value);
}

static void load_kernel_code(struct fixture *f)
{
	struct kernel_code *code = calloc(1, sizeof(*code) + 8);
	uint64_t start = KERNEL + below(f, SLOTS) * SLOT, time_ns = some_time(f);

	assert_non_null(code);
	code->value = (struct space_value){.refs = 1, .free = kernel_code_free};
	code->number = f->time_ns;
	code->address = start;
	assert_int_equal(
		space_map_insert(f->kernel_code, start, start + SLOT, time_ns, &code->value), 0);
	space_value_put(&code->value);
	changed(f, time_ns);
}

static void exec(struct fixture *f, uint32_t process)
{
	struct jitbpf_comm comm = {
		.h = {.time_ns = f->time_ns, .flags = JITBPF_COMM_EXEC},
		.pid = PID + process,
		.tid = PID + process,
		.comm = "new",
	};

	assert_int_equal(process_table_comm(&f->processes, &comm), 0);
	changed(f, comm.h.time_ns);
}

static void change(struct fixture *f)
{
	uint32_t process = below(f, PROCESSES);

	switch (below(f, 8)) {
	case 0:
		exec(f, process);
		break;
	case 1:
	case 3:
	case 4:
		map(f, process, CODE + below(f, SLOTS) * SLOT, below(f, 2) ? "//anon" : "/lib/x");
		break;
	case 2:
		load_kernel_code(f);
		break;
	default:
		load(f, process);
	}
}

/* Functions 0 and 1 are known, 2 is the unknown ones of a runtime, 3 was not described. */
static void add_functions(struct fixture *f)
{
	union {
		struct jitbpf_runtime_function record;
		uint64_t room[16];
	} u = {.record = {.h = {.type = JITBPF_RUNTIME_FUNCTION}, .file_bytes = 1}};

	strcpy(u.record.runtime, "CPython");
	for (uint32_t i = 0; i < FUNCTIONS - 1; i++) {
		u.record.number = i;
		u.record.name_bytes = i < 2 ? 2 : 1;
		strcpy(u.record.strings, i < 2 ? "f" : "");
		assert_int_equal(
			runtime_functions_add(&f->functions, &u.record, f->process[0]->account), 0);
	}
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->random = 88172645463325252ull;
	f->time_ns = 100;
	f->cache.slots = calloc(FRAME_CACHE_SLOTS, sizeof(*f->cache.slots));
	assert_non_null(f->cache.slots);
	assert_int_equal(string_pool_create(&f->strings), 0);
	process_table_init(&f->processes, f->strings, &f->modules, &code_budget_default, NULL);
	assert_int_equal(space_map_create(SPACE_END_WHOLE, &f->kernel_code), 0);
	f->global = (struct global_code){f->kernel_code, &f->functions};
	for (uint32_t i = 0; i < PROCESSES; i++) {
		assert_int_equal(process_table_at(&f->processes, PID + i, 7, 0, &f->process[i]), 0);
		map(f, i, CODE, "/lib/y");
		load(f, i);
	}
	add_functions(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	location_table_deinit(&f->tables[0]);
	location_table_deinit(&f->tables[1]);
	space_map_destroy(f->kernel_code);
	runtime_functions_deinit(&f->functions);
	process_table_deinit(&f->processes);
	module_table_deinit(&f->modules);
	string_pool_destroy(f->strings);
	free(f->cache.slots);
	free(f);
	return 0;
}

static void compare(struct fixture *f, const struct process *process, const struct raw_stack *stack,
		    uint64_t time_ns)
{
	struct location_table *table;

	f->cache.table = below(f, 8) == 0;
	f->cache.keeps = time_ns >= f->changed_ns;
	f->cache.generation = space_map_generation(process->mappings) +
			      code_map_generation(process->code) + f->processes.shared.generation;
	table = &f->tables[f->cache.table];
	assert_int_equal(
		locate_stack(table, &f->global, process, stack, time_ns, NULL, &f->without), 0);
	assert_int_equal(
		locate_stack(table, &f->global, process, stack, time_ns, &f->cache, &f->with), 0);
	assert_int_equal(f->with.kernel_frames, f->without.kernel_frames);
	assert_int_equal(f->with.user_frames, f->without.user_frames);
	assert_int_equal(f->with.user_end, f->without.user_end);
	assert_int_equal(f->with.has_gap, f->without.has_gap);
	assert_int_equal(f->with.has_function, f->without.has_function);
	assert_int_equal(f->with.code_unknown, f->without.code_unknown);
	assert_memory_equal(f->with.locations, f->without.locations,
			    (f->with.kernel_frames + f->with.user_frames) * sizeof(uint32_t));
}

static void locate(struct fixture *f)
{
	const struct process *process = f->process[below(f, PROCESSES)];
	uint64_t words[6], time_ns = some_time(f);
	struct raw_stack stack = {
		.kernel = {.words = words, .count = below(f, 3)},
		.user = {.count = below(f, 4)},
		.user_end = JITBPF_END_ROOT,
		.code_untold = !below(f, 4),
	};

	stack.user.words = words + stack.kernel.count;
	for (uint32_t i = 0; i < stack.kernel.count + stack.user.count; i++)
		words[i] = (i < stack.kernel.count ? KERNEL : CODE) + below(f, SLOTS) * SLOT +
			   below(f, 2);
	if (stack.user.count == 2 && !below(f, 4)) /* one frame of a runtime */
		words[stack.kernel.count] = 1ull << JITBPF_FRAME_KIND_SHIFT | below(f, 3);
	else if (stack.user.count && !below(f, 3)) /* the same code, which serves a runtime */
		words[stack.kernel.count + below(f, stack.user.count)] |=
			(uint64_t)JITBPF_FRAME_INTERPRETER << JITBPF_FRAME_KIND_SHIFT;
	compare(f, process, &stack, time_ns);
}

/* Returns a word that fits behind another one, or sometimes any. */
static uint64_t some_word(struct fixture *f, uint64_t inner)
{
	uint64_t address = CODE + below(f, SLOTS) * SLOT + below(f, 2);
	bool in_frame = inner >> JITBPF_FRAME_KIND_SHIFT == JITBPF_FRAME_RUNTIME;

	if (!below(f, 200))
		return (uint64_t)JITBPF_FRAME_GAP << JITBPF_FRAME_KIND_SHIFT;
	if (in_frame == (below(f, 100) > 0))
		return below(f, 3); /* a line, or no address of code */
	switch (below(f, 3)) {
	case 0:
		return address;
	case 1:
		return (uint64_t)JITBPF_FRAME_INTERPRETER << JITBPF_FRAME_KIND_SHIFT | address;
	default:
		return (uint64_t)JITBPF_FRAME_RUNTIME << JITBPF_FRAME_KIND_SHIFT |
		       (below(f, 50) ? below(f, 2) : below(f, FUNCTIONS));
	}
}

/* A stack with runtime frames, whose outer words are those of the one before. */
static void locate_deep(struct fixture *f)
{
	uint32_t count = 1 + below(f, DEPTH), kept = below(f, 8) ? below(f, count) : 0;
	uint64_t *words = f->deep + DEPTH - count;
	struct raw_stack stack = {
		.user = {.words = words, .count = count},
		.user_end = JITBPF_END_ROOT,
		.code_untold = !below(f, 16),
	};

	for (uint32_t i = 0; i < count - kept; i++)
		words[i] = some_word(f, i ? words[i - 1] : 0);
	f->reused += f->last.count && kept;
	f->cache.last = &f->last;
	compare(f, f->process[below(f, 8) == 0], &stack, some_time(f));
	f->cache.last = NULL;
}

CASE_WITH(test_same_as_without, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < STACKS; i++) {
		f->time_ns += below(f, 3);
		if (!below(f, 12))
			change(f);
		locate(f);
		for (int n = 0; n < 4; n++)
			locate_deep(f);
	}
	assert_true(f->reused > STACKS / 20);
	for (uint32_t i = 0; i < FRAME_CACHE_SLOTS; i++)
		kept += f->cache.slots[i].key.process != 0;
	assert_true(kept > 2 * SLOTS);
}
