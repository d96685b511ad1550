/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A Java virtual machine runs new code at a place before it reports the end of the code that was
 * there: whose sample is it?
 */
#include <stdint.h>

#include "state/code/code_region.h"
#include "tests/unit/cases.h"
#include "tests/unit/unwind/unwind_world.h"
#include "unwind/code/code_successors.h"

#define PID  77
#define CODE 0x7f0000001000ull
#define SIZE 0x100
#define MS   1000000ull
#define T    (1000 * MS) /* of the sample */
#define ENDS (T + 20 * MS)

#define LEAF	 (CODE + 0x48)
#define CALL_END (CODE + 0x80) /* a return address */

struct fixture {
	struct world *world;
	struct process *process;
	struct code_copies copies;
	uint8_t old[SIZE], new[SIZE];
	uint64_t sequence;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->world = world_create(4096, 256);
	f->process = world_process(f->world, PID);
	assert_int_equal(code_copies_init(&f->copies), 0);
	world_map(f->world, &(struct world_mapping){PID, 5, CODE, 0x10000, 0, 0, "//anon", 0});
	memset(f->old, 0x11, SIZE);
	memset(f->new, 0x22, SIZE);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	code_copies_deinit(&f->copies);
	world_destroy(f->world);
	free(f);
	return 0;
}

static void report(struct fixture *f, uint16_t kind, uint64_t time_ns, uint64_t address,
		   const char *name)
{
	struct jit_event jit = {.header = {.event = kind,
					   .sequence = f->sequence++,
					   .method_id = 1,
					   .address = address,
					   .code_bytes = SIZE}};
	struct code_event event = code_event_of(&jit, CODE_ENGINE_KNOWN, time_ns);

	if (name)
		event.name = (struct code_string){name, strlen(name)};
	assert_int_equal(process_code_apply(f->process, &event), 0);
}

/* Code that is loaded, with its copy. NULL: the copy had no room. */
static void load(struct fixture *f, uint64_t time_ns, uint64_t address, const char *name,
		 const uint8_t *copy)
{
	const struct code_region *region;

	report(f, JIT_EVENT_JVM_LOAD, time_ns, address, name);
	region = code_map_find(f->process->code, address, time_ns);
	assert_string_equal(region->name, name);
	if (copy)
		code_copies_put(&f->copies, code_region_identity(region), copy, SIZE);
}

static void unload(struct fixture *f, uint64_t time_ns)
{
	report(f, JIT_EVENT_JVM_UNLOAD, time_ns, CODE, NULL);
}

/* Old code that ends at ENDS, and new code that is reported 1 ms later. */
static void replace(struct fixture *f)
{
	load(f, 10 * MS, CODE, "old", f->old);
	unload(f, ENDS);
	load(f, ENDS + MS, CODE, "new", f->new);
}

static bool leaf_at(struct fixture *f, uint64_t time_ns, const uint8_t *ran)
{
	struct jitbpf_code_bytes seen = {.address = LEAF & ~63ull};
	struct sampled_frame frame = {.address = LEAF, .time_ns = time_ns, .seen = &seen};

	if (!ran)
		frame.seen = NULL;
	else
		memcpy(seen.bytes, ran + (seen.address - CODE), sizeof(seen.bytes));
	return code_successor_is_possible(&f->copies, f->process, &frame);
}

static bool caller_at(struct fixture *f, uint64_t time_ns)
{
	struct sampled_frame frame = {
		.address = CALL_END - 1, .time_ns = time_ns, .is_caller = true};

	return code_successor_is_possible(&f->copies, f->process, &frame);
}

static void make_call(uint8_t *code)
{
	code[CALL_END - CODE - 5] = 0xe8;
}

CASE_WITH(test_leaf, setup, teardown)
{
	struct fixture *f = *state;

	replace(f);
	assert_true(leaf_at(f, T, f->new));
	assert_false(leaf_at(f, T, f->old));
	assert_true(leaf_at(f, T, NULL)); /* its memory could not be read */
	/* After the end, the sample is of the new code. */
	assert_false(leaf_at(f, ENDS, f->new));
}

CASE_WITH(test_no_successor, setup, teardown)
{
	struct fixture *f = *state;

	load(f, 10 * MS, CODE, "old", f->old);
	assert_false(leaf_at(f, T, f->new));
	unload(f, ENDS);
	assert_false(leaf_at(f, T, f->new));
	load(f, ENDS + MS, CODE + SIZE, "beside", f->new);
	assert_false(leaf_at(f, T, f->new));
}

/* The virtual machine has written to the code since it was copied. */
CASE_WITH(test_written, setup, teardown)
{
	struct fixture *f = *state;

	replace(f);
	f->new[LEAF - CODE] = 0x33;
	assert_true(leaf_at(f, T, f->new));
	f->old[LEAF - CODE] = 0x33;
	assert_false(leaf_at(f, T, f->old));
}

/* Loaders of classes compile the same method: its code differs in some addresses. */
CASE_WITH(test_alike, setup, teardown)
{
	struct fixture *f = *state;

	memcpy(f->new, f->old, SIZE);
	f->new[LEAF - CODE] = 0x33;
	replace(f);
	assert_true(leaf_at(f, T, f->new));
	assert_false(leaf_at(f, T, f->old));
	/* Bytes of neither: it can be both. */
	f->old[LEAF - CODE] = 0x44;
	assert_true(leaf_at(f, T, f->old));
}

CASE_WITH(test_equal, setup, teardown)
{
	struct fixture *f = *state;

	memcpy(f->new, f->old, SIZE);
	replace(f);
	assert_true(leaf_at(f, T, f->old));
}

/* The reports do not follow each other: the new code came after the end. */
CASE_WITH(test_end_before_the_load, setup, teardown)
{
	struct fixture *f = *state;

	memcpy(f->new, f->old, SIZE);
	load(f, 10 * MS, CODE, "old", f->old);
	unload(f, ENDS);
	load(f, ENDS + CODE_REPORTS_NS + 1, CODE, "new", f->new);
	assert_false(leaf_at(f, T, f->old));
}

CASE_WITH(test_impossible_code, setup, teardown)
{
	struct fixture *f = *state;

	load(f, 10 * MS, CODE, "old", f->old);
	unload(f, ENDS);
	load(f, ENDS + 10 * CODE_REPORTS_NS, CODE, "new", f->new);
	assert_true(leaf_at(f, T, f->new));
	assert_false(leaf_at(f, T, f->old));
}

CASE_WITH(test_long_before, setup, teardown)
{
	struct fixture *f = *state;

	replace(f);
	assert_true(leaf_at(f, ENDS + MS - CODE_SUCCESSOR_NS, f->new));
	assert_false(leaf_at(f, ENDS + MS - CODE_SUCCESSOR_NS - 1, f->new));
}

CASE_WITH(test_without_copies, setup, teardown)
{
	struct fixture *f = *state;

	load(f, 10 * MS, CODE, "old", NULL);
	unload(f, ENDS);
	load(f, ENDS + MS, CODE, "new", f->new);
	assert_true(leaf_at(f, T, f->new));
	assert_false(leaf_at(f, T, f->old)); /* not of the new code */
}

CASE_WITH(test_new_code_without_copy, setup, teardown)
{
	struct fixture *f = *state;

	load(f, 10 * MS, CODE, "old", f->old);
	unload(f, ENDS);
	load(f, ENDS + MS, CODE, "new", NULL);
	assert_true(leaf_at(f, T, f->new));
	assert_false(leaf_at(f, T, f->old));
}

/* The end was never reported: the load ends the code. */
CASE_WITH(test_without_end, setup, teardown)
{
	struct fixture *f = *state;

	load(f, 10 * MS, CODE, "old", f->old);
	load(f, ENDS, CODE, "new", f->new);
	assert_true(leaf_at(f, T, f->new));
	assert_false(leaf_at(f, T, f->old));
}

/* The new code has ended, too. */
CASE_WITH(test_several, setup, teardown)
{
	struct fixture *f = *state;
	uint8_t third[SIZE];

	memset(third, 0x66, SIZE);
	replace(f);
	unload(f, ENDS + 2 * MS);
	load(f, ENDS + 3 * MS, CODE, "third", third);
	assert_true(leaf_at(f, T, f->new));
	assert_true(leaf_at(f, T, third));
	assert_false(leaf_at(f, T, f->old));
}

/* It was compiled again: the name is right in any case. */
CASE_WITH(test_same_method, setup, teardown)
{
	struct fixture *f = *state;

	load(f, 10 * MS, CODE, "method", f->old);
	unload(f, ENDS);
	load(f, ENDS + MS, CODE, "method", f->new);
	assert_false(leaf_at(f, T, f->new));
}

CASE_WITH(test_caller, setup, teardown)
{
	struct fixture *f = *state;

	make_call(f->old);
	replace(f);
	assert_false(caller_at(f, T)); /* the new code has no call there */
}

CASE_WITH(test_caller_in_new_code, setup, teardown)
{
	struct fixture *f = *state;

	make_call(f->new);
	replace(f);
	assert_true(caller_at(f, T));
}

CASE_WITH(test_caller_in_both, setup, teardown)
{
	struct fixture *f = *state;

	make_call(f->old);
	make_call(f->new);
	replace(f);
	assert_true(caller_at(f, T));
}

/* Other publishers report code before it runs. */
CASE_WITH(test_other_publisher, setup, teardown)
{
	struct fixture *f = *state;

	report(f, JIT_EVENT_LOAD, 10 * MS, CODE, "old");
	load(f, ENDS, CODE, "new", f->new);
	assert_false(leaf_at(f, T, f->new));
}
