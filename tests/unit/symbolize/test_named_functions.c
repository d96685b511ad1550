/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <string.h>

#include "base/scope.h"
#include "symbolize/frame_table.h"
#include "tests/unit/cases.h"

static struct string_pool *strings;
static struct frame_table *table;
static uint32_t locations;

static int setup(void **state)
{
	locations = 0;
	return string_pool_create(&strings) || frame_table_create(strings, &table) ? -1 : 0;
}

static int teardown(void **state)
{
	frame_table_destroy(table);
	string_pool_destroy(strings);
	return 0;
}

static uint32_t string(const char *s)
{
	uint32_t number;

	assert_int_equal(string_pool_add(strings, s, strlen(s), &number), 0);
	return number;
}

/* Returns the frame of a new location. */
static const struct frame *frame_of(enum frame_kind kind, const char *name, const char *module,
				    const char *file, unsigned int flags)
{
	struct frame frame = {
		.name = string(name),
		.module = string(module),
		.file = string(file),
		.kind = (uint16_t)kind,
		.flags = (uint8_t)flags,
		/* The table sets these. */
		.function = 12345,
		.tier = 99,
	};
	uint32_t count;

	assert_int_equal(frame_table_set(table, locations, &frame, 1), 0);
	return frame_table_get(table, locations++, &count);
}

static uint32_t function_of(enum frame_kind kind, const char *name, const char *module,
			    const char *file)
{
	return frame_of(kind, name, module, file, 0)->function;
}

static const char *name_of(const struct frame *frame)
{
	const struct named_function *function = frame_table_function(table, frame);

	assert_non_null(function);
	return string_pool_get(strings, function->name);
}

#define NATIVE FRAME_KIND_NATIVE
#define JIT    FRAME_KIND_JIT

CASE_WITH(all_code_of_a_function_is_one, setup, teardown)
{
	uint32_t f = function_of(NATIVE, "f", "/bin/p", "");

	assert_int_equal(function_of(NATIVE, "f.cold", "/bin/p", ""), f);
	assert_int_equal(function_of(NATIVE, "f.part.0", "/bin/p", "/src/f.c"), f);
	assert_int_equal(frame_of(NATIVE, "f", "/bin/p", "/src/f.h", FRAME_INLINED)->function, f);
	assert_int_equal(frame_table_function_count(table), 1);
	f = function_of(FRAME_KIND_KERNEL, "finish_task_switch.isra.0", "[kernel.kallsyms]", "");
	assert_int_equal(
		function_of(FRAME_KIND_KERNEL, "finish_task_switch", "[kernel.kallsyms]", ""), f);
	f = function_of(JIT, "JS:*f /a.js:1:2", "[jit]", "/a.js");
	assert_int_equal(function_of(JIT, "JS:^f /a.js:1:2", "[jit]", ""), f);
	assert_int_equal(function_of(FRAME_KIND_INTERPRETED, "JS:~f /a.js:1:2", "[jit]", ""), f);
	assert_int_equal(frame_table_function_count(table), 3);
}

CASE_WITH(what_differs_stays_apart, setup, teardown)
{
	const uint32_t functions[] = {
		function_of(NATIVE, "f", "/bin/p", ""),
		function_of(NATIVE, "f", "/bin/q", ""),
		function_of(NATIVE, "f", "/opt/bin/p", ""),
		function_of(NATIVE, "g", "/bin/p", ""),
		function_of(NATIVE, "main.cold", "/bin/p", "main.go"),
		function_of(NATIVE, "main", "/bin/p", "main.go"),
		function_of(NATIVE, "f.lto_priv.0", "/bin/p", ""),
		function_of(NATIVE, "f.lto_priv.1", "/bin/p", ""),
		function_of(FRAME_KIND_KERNEL, "f", "/bin/p", ""),
		function_of(FRAME_KIND_UNKNOWN, "f", "/bin/p", ""),
		function_of(JIT, "f", "/bin/p", ""),
		function_of(JIT, "f", "/bin/p", "/a.py"),
		function_of(JIT, "f", "/bin/p", "/b.py"),
		function_of(JIT, "f.cold", "/bin/p", "/b.py"),
		/* Code without a name, and a function of that name. */
		function_of(NATIVE, "", "/bin/p", ""),
		function_of(NATIVE, "[p]", "/bin/p", ""),
		function_of(NATIVE, "", "/bin/q", ""),
		function_of(NATIVE, "", "", ""),
		function_of(JIT, "", "", ""),
	};

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		assert_int_equal(functions[i], i);
	assert_int_equal(frame_table_function_count(table), ARRAY_SIZE(functions));
}

/* Returns the function of native code that is static, or, with "", not. */
static uint32_t declared_in(const char *name, const char *file, const char *decl_file)
{
	struct frame frame = {
		.name = string(name),
		.module = string("/bin/p"),
		.file = string(file),
		.kind = NATIVE,
		.decl_file = string(decl_file),
	};
	uint32_t count;

	assert_int_equal(frame_table_set(table, locations, &frame, 1), 0);
	return frame_table_get(table, locations++, &count)->function;
}

CASE_WITH(static_functions_have_files, setup, teardown)
{
	uint32_t everybodys = declared_in("f", "/src/c.c", ""),
		 a = declared_in("f", "", "/src/a.c");

	assert_int_not_equal(a, everybodys);
	assert_int_not_equal(declared_in("f", "/src/a.c", "/src/b.c"), a);
	assert_int_equal(declared_in("f", "/src/x.h", "/src/a.c"), a);
	assert_int_equal(declared_in("f.cold", "", "/src/a.c"), a);
	assert_int_equal(declared_in("f", "/src/a.c", ""), everybodys);
	assert_int_equal(frame_table_function_count(table), 3);
}

CASE_WITH(code_has_a_tier, setup, teardown)
{
	assert_int_equal(frame_of(NATIVE, "f", "", "", 0)->tier, CODE_TIER_PLAIN);
	assert_int_equal(frame_of(NATIVE, "f.cold", "", "", 0)->tier, CODE_TIER_COLD);
	assert_int_equal(frame_of(NATIVE, "f.cold", "", "", FRAME_INLINED)->tier,
			 CODE_TIER_INLINED);
	assert_int_equal(frame_of(JIT, "JS:*f a.js:1:2", "", "", 0)->tier, CODE_TIER_OPTIMIZED);
	assert_int_equal(frame_of(FRAME_KIND_INTERPRETED, "f", "", "", 0)->tier,
			 CODE_TIER_INTERPRETED);
	assert_int_equal(frame_of(NATIVE, "", "/a", "", 0)->tier, CODE_TIER_PLAIN);
}

CASE_WITH(names_in_full_stay, setup, teardown)
{
	const struct frame *frame = frame_of(NATIVE, "f.cold", "/lib/libx.so", "", 0);

	assert_string_equal(string_pool_get(strings, frame->name), "f.cold");
	assert_string_equal(name_of(frame), "f");
	frame = frame_of(NATIVE, "", "/lib/libx.so", "", 0);
	assert_int_equal(frame->name, 0);
	assert_string_equal(name_of(frame), "[libx.so]");
	frame = frame_of(NATIVE, "", "[vdso]", "", 0);
	assert_string_equal(name_of(frame), "[vdso]");
}

static uint64_t left;

static bool take_left(void *context, uint64_t bytes)
{
	bool enough = bytes <= left;

	left -= enough ? bytes : 0;
	return enough;
}

/* The owner's memory is used up: functions keep the names of their code, or frames have none. */
CASE_WITH(functions_are_charged, setup, teardown)
{
	const struct room room = {.take = take_left};
	const struct frame *frame;
	uint32_t f;

	frame_table_set_room(table, &room);
	left = NAMED_FUNCTION_BYTES;
	f = function_of(NATIVE, "f", "/bin/p", "");
	assert_int_equal(left, 0);
	assert_int_equal(function_of(NATIVE, "f.cold", "/bin/p", ""), f);
	frame = frame_of(NATIVE, "g", "/bin/p", "", 0);
	assert_int_equal(frame->function, NAMED_FUNCTION_NONE);
	assert_null(frame_table_function(table, frame));
	assert_string_equal(string_pool_get(strings, frame->name), "g");

	string("h.cold");
	left = NAMED_FUNCTION_BYTES;
	string_pool_set_room(strings, &room);
	frame = frame_of(NATIVE, "h.cold", "/bin/p", "", 0);
	assert_string_equal(name_of(frame), "h.cold");
}
