/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include "locate/locate.h"
#include "state/process/runtime_functions.h"
#include "tests/unit/cases.h"
#include "tests/unit/state/apply_jit.h"
#include "tests/unit/state/made_mapping.h"

#define PID    100
#define LIB    0x700000
#define CODE   0x500000
#define KERNEL 0xffffffff81000000ull

struct fixture {
	struct string_pool *strings;
	struct module_table modules;
	struct process_table processes;
	struct process *process;
	struct space_map *kernel_code;
	struct runtime_functions functions;
	struct global_code global;
	struct location_table table;
	struct located_stack located;
};

static void map(struct fixture *f, uint64_t time_ns, uint64_t address, const char *path,
		uint64_t inode)
{
	struct made_mapping *made = malloc(sizeof(*made));

	assert_non_null(made);
	made_mapping(made, path, inode, "");
	made->mapping.h.time_ns = time_ns;
	made->mapping.address = address;
	made->mapping.file_offset = 0x2000;
	assert_int_equal(process_table_map(&f->processes, &made->mapping), 0);
	free(made);
}

static void load_of(struct fixture *f, enum jitbpf_publisher publisher, uint64_t time_ns,
		    uint64_t address, uint64_t size_bytes, const char *name)
{
	struct jit_event event = {.header = {.event = JIT_EVENT_LOAD,
					     .method_id = (uint32_t)(address + time_ns),
					     .address = address,
					     .code_bytes = size_bytes},
				  .name = {name, (uint32_t)strlen(name)}};
	struct code_event load = code_event_of(&event, event.header.caller, time_ns);

	load.origin.publisher = publisher;
	assert_int_equal(code_map_apply(f->process->code, f->process->account, &load), 0);
}

/* Code that the agent for Java reports. */
static void load_named(struct fixture *f, uint64_t time_ns, uint64_t address, uint64_t size_bytes,
		       const char *name)
{
	load_of(f, JITBPF_PUBLISHER_JVMTI, time_ns, address, size_bytes, name);
}

static void load(struct fixture *f, uint64_t time_ns, uint64_t address, uint64_t size_bytes)
{
	load_of(f, JITBPF_PUBLISHER_SHIM, time_ns, address, size_bytes, "");
}

static void exec(struct fixture *f, uint64_t time_ns)
{
	struct jitbpf_comm comm = {
		.h = {.time_ns = time_ns, .flags = JITBPF_COMM_EXEC},
		.pid = PID,
		.tid = PID,
		.comm = "new",
	};

	assert_int_equal(process_table_comm(&f->processes, &comm), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(string_pool_create(&f->strings), 0);
	process_table_init(&f->processes, f->strings, &f->modules, &code_budget_default, NULL);
	assert_int_equal(process_table_at(&f->processes, PID, 7, 0, &f->process), 0);
	assert_int_equal(space_map_create(SPACE_END_WHOLE, &f->kernel_code), 0);
	f->global = (struct global_code){f->kernel_code, &f->functions};
	map(f, 1, LIB, "/lib/x.so", 9);
	map(f, 1, CODE, "//anon", 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	location_table_deinit(&f->table);
	space_map_destroy(f->kernel_code);
	runtime_functions_deinit(&f->functions);
	process_table_deinit(&f->processes);
	module_table_deinit(&f->modules);
	string_pool_destroy(f->strings);
	free(f);
	return 0;
}

static void locate(struct fixture *f, uint64_t time_ns, const uint64_t *words,
		   uint32_t kernel_frames, uint32_t user_frames)
{
	struct raw_stack stack = {
		.kernel = {.words = words, .count = kernel_frames},
		.user = {.words = words + kernel_frames, .count = user_frames},
		.user_end = JITBPF_END_ROOT,
	};

	assert_int_equal(
		locate_stack(&f->table, &f->global, f->process, &stack, time_ns, NULL, &f->located),
		0);
}

/* Returns the location of frame i. */
static const struct location *at(const struct fixture *f, uint32_t i)
{
	assert_true(i < f->located.kernel_frames + f->located.user_frames);
	return &f->table.locations.data[f->located.locations[i]];
}

/* Returns the name of the JIT code of frame i. */
static const char *name_at(const struct fixture *f, uint32_t i)
{
	assert_int_equal(at(f, i)->kind, LOCATION_JIT);
	return ((const struct code_region *)at(f, i)->code)->name;
}

static const struct location *locate_one(struct fixture *f, uint64_t time_ns, uint64_t ip)
{
	locate(f, time_ns, &ip, 0, 1);
	return at(f, 0);
}

/* A leaf is located at its pc, a caller at its return address minus 1. */
CASE_WITH(test_offsets, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t words[] = {KERNEL, KERNEL + 0x10, LIB + 0x30, LIB + 0x40, CODE + 0x10};

	load(f, 5, CODE, 0x10); /* the last byte belongs to the call */
	locate(f, 10, words, 2, 3);
	assert_int_equal(at(f, 0)->kind, LOCATION_KERNEL);
	assert_int_equal(at(f, 0)->offset, KERNEL);
	assert_int_equal(at(f, 1)->offset, KERNEL + 0xf);
	assert_int_equal(at(f, 2)->kind, LOCATION_NATIVE);
	assert_int_equal(at(f, 2)->offset, 0x2030);
	assert_int_equal(at(f, 3)->offset, 0x203f);
	assert_int_equal(at(f, 4)->kind, LOCATION_JIT);
	assert_int_equal(at(f, 4)->offset, 0xf);
	assert_false(f->located.code_unknown);
	assert_int_equal(f->located.user_end, JITBPF_END_ROOT);
}

/* Code to which an engine makes frames return is a caller without a call before it. */
CASE_WITH(test_returned_to, setup, teardown)
{
	struct fixture *f = *state;
	const uint64_t barrier = CODE + 0x20;
	uint64_t words[] = {CODE, barrier, CODE + 0x40, barrier + 8};

	load(f, 5, CODE, 0x20);
	load_named(f, 5, barrier, 0x10, "cont_returnBarrier");
	load_named(f, 5, CODE + 0x40, 0x10, "cont_returnBarrierExc"); /* behind a gap */
	locate(f, 10, words, 0, 4);
	assert_string_equal(name_at(f, 1), "cont_returnBarrier");
	assert_int_equal(at(f, 1)->offset, 0);
	assert_string_equal(name_at(f, 2), "cont_returnBarrierExc");
	assert_int_equal(at(f, 3)->offset, 7);
	assert_false(f->located.code_unknown);
	/* Nor is code of another engine that has such a name. */
	load(f, 11, CODE + 0x18, 8);
	load_of(f, JITBPF_PUBLISHER_SHIM, 12, barrier, 0x18, "cont_returnBarrier");
	locate(f, 15, words, 0, 2);
	assert_int_equal(at(f, 1)->offset, 7);
	assert_string_equal(name_at(f, 1), "");
	/* Other code is not returned to at its begin: there the caller's call is the last. */
	load_named(f, 20, barrier, 0x10, "doYield");
	locate(f, 30, words, 0, 2);
	assert_string_equal(name_at(f, 1), "");
	assert_int_equal(at(f, 1)->offset, 7);
}

/* Code that runtime frames of the stack stand for is not unknown, whoever has made it. */
CASE_WITH(test_code_that_serves, setup, teardown)
{
	struct fixture *f = *state;
	const uint64_t kind = (uint64_t)JITBPF_FRAME_INTERPRETER << JITBPF_FRAME_KIND_SHIFT;

	assert_int_equal(locate_one(f, 10, CODE)->kind, LOCATION_ANON);
	assert_true(f->located.code_unknown);
	assert_false(f->located.code_unpublished);
	assert_int_equal(locate_one(f, 10, kind | CODE)->kind, LOCATION_ANON);
	assert_false(f->located.code_unknown);
	assert_true(f->located.code_unpublished);
}

CASE_WITH(test_edges_of_code, setup, teardown)
{
	struct fixture *f = *state;

	load(f, 5, CODE + 0x100, 0x10);
	assert_int_equal(locate_one(f, 10, CODE + 0xff)->kind, LOCATION_ANON);
	assert_true(f->located.code_unknown);
	assert_int_equal(locate_one(f, 10, CODE + 0x100)->kind, LOCATION_JIT);
	assert_false(f->located.code_unknown);
	assert_int_equal(locate_one(f, 10, CODE + 0x10f)->kind, LOCATION_JIT);
	assert_int_equal(locate_one(f, 10, CODE + 0x110)->kind, LOCATION_ANON);
	assert_int_equal(locate_one(f, 5, CODE + 0x100)->kind, LOCATION_JIT);
	assert_int_equal(locate_one(f, 4, CODE + 0x100)->kind, LOCATION_ANON);
}

/* One address is different locations at different times; equal locations share a number. */
CASE_WITH(test_generations, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t first, second;

	load(f, 10, CODE, 0x10);
	load(f, 20, CODE, 0x10);
	locate_one(f, 15, CODE);
	first = f->located.locations[0];
	locate_one(f, 25, CODE);
	second = f->located.locations[0];
	assert_int_not_equal(first, second);
	locate_one(f, 19, CODE);
	assert_int_equal(f->located.locations[0], first);
	locate_one(f, 20, CODE);
	assert_int_equal(f->located.locations[0], second);
}

/* JIT code in unmapped memory counts as JIT code; a file mapped later replaces it. */
CASE_WITH(test_code_and_mappings, setup, teardown)
{
	struct fixture *f = *state;

	load(f, 10, 0x300000, 0x10);
	assert_int_equal(locate_one(f, 11, 0x300000)->kind, LOCATION_JIT);
	load(f, 10, LIB, 0x10); /* into a private mapping of a file */
	assert_int_equal(locate_one(f, 11, LIB)->kind, LOCATION_JIT);
	map(f, 20, CODE, "//anon", 0);
	load(f, 20, CODE, 0x10);
	map(f, 30, CODE, "//anon", 0); /* the engine changes the protection */
	assert_int_equal(locate_one(f, 31, CODE)->kind, LOCATION_JIT);
	map(f, 40, CODE, "/lib/y.so", 10);
	assert_int_equal(locate_one(f, 41, CODE)->kind, LOCATION_NATIVE);
	assert_int_equal(locate_one(f, 39, CODE)->kind, LOCATION_JIT);
}

/* A caller in unmapped memory ends the stack before it. */
CASE_WITH(test_cut_at_a_caller_that_is_none, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t words[] = {KERNEL, LIB, LIB + 9, 0xdead000, LIB + 20};

	locate(f, 10, words, 1, 4);
	assert_int_equal(f->located.kernel_frames, 1);
	assert_int_equal(f->located.user_frames, 2);
	assert_int_equal(f->located.user_end, JITBPF_END_BAD_FRAME);
	assert_false(f->located.code_unknown);
}

/* A leaf in unmapped memory is kept. */
CASE_WITH(test_unknown_leaf, setup, teardown)
{
	struct fixture *f = *state;

	assert_int_equal(locate_one(f, 10, 0xdead000)->kind, LOCATION_UNKNOWN);
	assert_int_equal(f->located.user_frames, 1);
	assert_int_equal(f->located.user_end, JITBPF_END_ROOT);
	assert_true(f->located.code_unknown);
}

/* During execve, the registers belong to the old program, whose mappings are gone. */
CASE_WITH(test_kernel_begins_a_program, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t words[] = {KERNEL, LIB + 8, LIB + 9}, stray[] = {KERNEL, 0xdead000};

	exec(f, 100);
	locate(f, 110, words, 1, 2);
	assert_int_equal(f->located.kernel_frames, 1);
	assert_int_equal(f->located.user_frames, 0);
	assert_int_equal(f->located.user_end, JITBPF_END_NONE);
	assert_false(f->located.code_unknown);
	locate(f, 99, words, 1, 2); /* before execve: as usual */
	assert_int_equal(f->located.user_frames, 2);
	locate(f, 110, stray, 1, 1); /* in neither program */
	assert_true(f->located.code_unknown);
	assert_int_equal(locate_one(f, 110, LIB + 8)->kind,
			 LOCATION_UNKNOWN); /* sampled in user mode */
	assert_true(f->located.code_unknown);
	map(f, 120, LIB, "/lib/new.so", 11);
	locate(f, 130, words, 1, 2);
	assert_int_equal(f->located.user_frames, 2);
	assert_int_equal(f->located.user_end, JITBPF_END_ROOT);
}

/* User frames of a retired process are unknown, kernel frames are not. */
CASE_WITH(test_retired, setup, teardown)
{
	struct jitbpf_task task = {.h.time_ns = 10, .pid = PID, .tid = PID};
	struct fixture *f = *state;
	uint64_t words[] = {KERNEL, LIB, LIB + 9};

	assert_int_equal(process_table_exit(&f->processes, &task), 0);
	process_table_forget(&f->processes, 100 * PROCESS_GRACE_NS);
	assert_null(f->process->mappings);
	locate(f, 20, words, 1, 2);
	assert_int_equal(at(f, 0)->kind, LOCATION_KERNEL);
	assert_int_equal(at(f, 1)->kind, LOCATION_UNKNOWN);
	assert_int_equal(f->located.user_frames, 1);
	assert_true(f->located.code_unknown);
}

static void kernel_code_free(struct space_value *value)
{
	free(value);
}

CASE_WITH(test_kernel_code, setup, teardown)
{
	struct fixture *f = *state;
	struct kernel_code *code = calloc(1, sizeof(*code) + 8);
	uint64_t words[] = {KERNEL + 0x20, KERNEL + 0x40};

	assert_non_null(code);
	code->value = (struct space_value){.refs = 1, .free = kernel_code_free};
	code->number = 3;
	code->address = KERNEL;
	assert_int_equal(space_map_insert(f->kernel_code, KERNEL, KERNEL + 0x40, 10, &code->value),
			 0);
	locate(f, 20, words, 2, 0);
	assert_int_equal(at(f, 0)->kind, LOCATION_KERNEL_CODE);
	assert_int_equal(at(f, 0)->owner, 3);
	assert_int_equal(at(f, 0)->offset, 0x20);
	/* the last byte belongs to the call */
	assert_int_equal(at(f, 1)->kind, LOCATION_KERNEL_CODE);
	assert_int_equal(at(f, 1)->offset, 0x3f);
	assert_int_equal(f->located.user_end, JITBPF_END_ROOT);
	locate(f, 9, words, 2, 0);
	assert_int_equal(at(f, 0)->kind, LOCATION_KERNEL);
	assert_int_equal(space_map_end(f->kernel_code, KERNEL, &code->value, 30), 1);
	space_map_forget(f->kernel_code, 1000);
	space_value_put(&code->value); /* the location holds a reference */
	assert_int_equal(f->table.locations.data[0].code->refs, 2);
}

static void add_function(struct fixture *f, uint64_t number, const char *name)
{
	uint64_t words[16] = {0};
	struct jitbpf_runtime_function *record = (struct jitbpf_runtime_function *)words;

	record->number = number;
	record->name_bytes = (uint32_t)strlen(name) + 1;
	record->file_bytes = 1;
	strcpy(record->runtime, "CPython");
	strcpy(record->strings, name);
	assert_int_equal(runtime_functions_add(&f->functions, record, f->process->account), 0);
	assert_int_equal(runtime_functions_add(&f->functions, record, f->process->account),
			 -EEXIST);
}

static const struct location *nth(const struct fixture *f, uint32_t i)
{
	return &f->table.locations.data[f->located.locations[i]];
}

/* A known function is a location by its line; unknown ones are one, and no known code. */
CASE_WITH(test_runtime, setup, teardown)
{
	const uint64_t kind = (uint64_t)JITBPF_FRAME_RUNTIME << JITBPF_FRAME_KIND_SHIFT;
	const uint64_t known[] = {kind | 5, 12 | JITBPF_POSITION_COMPILED | 1ull << 40};
	const uint64_t unread[] = {kind | 6, 1, kind | 6, 2, kind | 5, 13};
	const uint64_t unannounced[] = {kind | 7, 1, kind | 8, 2};
	struct fixture *f = *state;

	add_function(f, 5, "f");
	add_function(f, 6, "");
	locate(f, 1, known, 0, 2);
	assert_false(f->located.code_unknown);
	assert_int_equal(f->located.user_frames, 1);
	assert_int_equal(nth(f, 0)->kind, LOCATION_RUNTIME);
	assert_int_equal(nth(f, 0)->owner, 5);
	assert_int_equal(nth(f, 0)->offset, 12 | JITBPF_POSITION_COMPILED);
	assert_string_equal(((const struct known_function *)nth(f, 0)->code)->name, "f");
	locate(f, 1, unread, 0, 6);
	assert_true(f->located.code_unknown);
	assert_int_equal(f->located.user_frames, 3);
	assert_int_equal(nth(f, 0)->kind, LOCATION_RUNTIME_UNKNOWN);
	assert_int_equal(f->located.locations[0], f->located.locations[1]);
	assert_int_equal(nth(f, 2)->kind, LOCATION_RUNTIME);
	locate(f, 1, unannounced, 0, 4);
	assert_true(f->located.code_unknown);
	assert_int_equal(nth(f, 0)->kind, LOCATION_RUNTIME_UNKNOWN);
	assert_null(nth(f, 0)->code);
	assert_int_equal(f->located.locations[0], f->located.locations[1]);
	/* The locations have references. */
	runtime_functions_deinit(&f->functions);
	f->functions = (struct runtime_functions){0};
	assert_string_equal(((const struct known_function *)f->table.locations.data[0].code)->name,
			    "f");
}

/* Code that serves a runtime is another location than the same code elsewhere. */
CASE_WITH(test_interpreter, setup, teardown)
{
	const uint64_t serves = (uint64_t)JITBPF_FRAME_INTERPRETER << JITBPF_FRAME_KIND_SHIFT;
	const uint64_t words[] = {serves | (CODE + 9), CODE + 9, CODE + 10, serves | (CODE + 10)};
	struct fixture *f = *state;

	map(f, 1, CODE, "/bin/p", 3);
	locate(f, 2, words, 0, 4);
	assert_int_equal(f->located.user_frames, 4);
	assert_true(nth(f, 0)->is_interpreter);
	assert_int_equal(nth(f, 0)->offset, nth(f, 2)->offset);
	assert_int_equal(nth(f, 0)->kind, nth(f, 2)->kind);
	assert_false(nth(f, 2)->is_interpreter);
	assert_true(nth(f, 3)->is_interpreter);
	assert_int_equal(nth(f, 3)->offset, nth(f, 2)->offset);
	assert_int_equal(f->located.locations[0], f->located.locations[3]);
	assert_int_not_equal(f->located.locations[0], f->located.locations[2]);
}

CASE_WITH(test_too_many_frames, setup, teardown)
{
	static const uint64_t words[JITBPF_SAMPLE_WORDS_MAX + 1] = {0};
	struct fixture *f = *state;
	struct raw_stack stack = {
		.kernel = {.words = words, .count = JITBPF_KERNEL_FRAMES_MAX + 1}};

	assert_int_equal(
		locate_stack(&f->table, &f->global, f->process, &stack, 1, NULL, &f->located),
		-EINVAL);
	stack = (struct raw_stack){.user = {.words = words, .count = JITBPF_USER_WORDS_MAX + 1}};
	assert_int_equal(
		locate_stack(&f->table, &f->global, f->process, &stack, 1, NULL, &f->located),
		-EINVAL);
	locate(f, 1, words, JITBPF_KERNEL_FRAMES_MAX, JITBPF_USER_WORDS_MAX);
	assert_int_equal(f->located.kernel_frames, JITBPF_KERNEL_FRAMES_MAX);
}
