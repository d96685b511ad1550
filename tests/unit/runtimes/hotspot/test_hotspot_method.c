/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A virtual machine in a few kilobytes: tables of its structures, whose offsets are those of no
 * version, the class java.lang.Object and a class with a method. The reader must follow the tables.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "runtimes/hotspot/hotspot_method.h"
#include "runtimes/hotspot/hotspot_reader.h"
#include "tests/unit/cases.h"

#define BASE  0x10000ull
#define BYTES 0x10000

/* Offsets in structures. */
enum {
	METHOD_CONST = 24,
	CONST_CONSTANTS = 16,
	CONST_WORDS = 32,
	CONST_FLAGS = 36,
	CONST_CODE = 40,
	CONST_NAME = 42,
	CONST_SIZE = 56,
	CONSTANTS_HOLDER = 32,
	CONSTANTS_SOURCE = 50,
	CONSTANTS_SIZE = 80,
	CLASS_NAME = 40,
	CLASS_METHODS = 200,
	SYMBOL_LENGTH = 4,
	SYMBOL_BYTES = 6,
	QUEUE_START = 8,
	QUEUE_BYTES = 20,
	HAS_LINES = 4,
};

#define CODE_START 0x7f0000001000ull
#define CODE_BYTES 0x20000

struct vm {
	uint8_t bytes[BYTES];
	uint64_t next;
	struct runtime_facts facts;
	uint64_t object_class, method, const_method, class_symbol, version, members;
	uint32_t member_count;
};

static struct vm *vm;

static int read_bytes(void *context, uint64_t address, void *buf, size_t size_bytes)
{
	if (address < BASE || address - BASE > BYTES || size_bytes > BYTES - (address - BASE))
		return -EFAULT;
	memcpy(buf, vm->bytes + (address - BASE), size_bytes);
	return 0;
}

static const struct process_memory memory = {.read = read_bytes};

static uint64_t room(size_t size_bytes)
{
	uint64_t at = vm->next;

	vm->next += (size_bytes + 15) / 16 * 16;
	assert_true(vm->next - BASE <= BYTES);
	return at;
}

static void put(uint64_t address, uint64_t value, size_t size_bytes)
{
	memcpy(vm->bytes + (address - BASE), &value, size_bytes);
}

static uint64_t word(uint64_t value)
{
	uint64_t at = room(8);

	put(at, value, 8);
	return at;
}

static uint64_t string(const char *text)
{
	uint64_t at = room(strlen(text) + 1);

	memcpy(vm->bytes + (at - BASE), text, strlen(text) + 1);
	return at;
}

static uint64_t symbol(const char *text)
{
	uint64_t at = room(SYMBOL_BYTES + strlen(text) + 8);

	put(at, 0x5a5a0001, 4); /* a hash, and a count of references */
	put(at + SYMBOL_LENGTH, strlen(text), 2);
	memcpy(vm->bytes + (at + SYMBOL_BYTES - BASE), text, strlen(text));
	return at;
}

/* Rows of a table: three names or numbers, or so. */
struct row {
	const char *type, *member;
	uint64_t value, address;
};

static uint64_t table(const struct row *rows, size_t count)
{
	uint64_t at = room((count + 1) * 32);

	for (size_t i = 0; i < count; i++) {
		put(at + 32 * i, string(rows[i].type), 8);
		put(at + 32 * i + 8, rows[i].member ? string(rows[i].member) : 0, 8);
		put(at + 32 * i + 16, rows[i].value, 8);
		put(at + 32 * i + 24, rows[i].address, 8);
	}
	return at;
}

static uint64_t make_method(uint64_t class, const char *name, const char *source,
			    const uint8_t *lines, size_t line_bytes, uint16_t code_bytes)
{
	uint64_t constants = room(CONSTANTS_SIZE + 8 * 4);
	size_t size_bytes = CONST_SIZE + code_bytes + line_bytes;
	uint64_t const_method = room(size_bytes + 8), method = room(80);

	put(constants + CONSTANTS_HOLDER, class, 8);
	put(constants + CONSTANTS_SOURCE, source ? 2 : 0, 2);
	put(constants + CONSTANTS_SIZE + 8, symbol(name), 8);
	if (source)
		put(constants + CONSTANTS_SIZE + 16, symbol(source), 8);
	put(const_method + CONST_CONSTANTS, constants, 8);
	put(const_method + CONST_WORDS, (size_bytes + 7) / 8, 4);
	put(const_method + CONST_FLAGS, line_bytes ? HAS_LINES | 0x8000 : 0, 2);
	put(const_method + CONST_CODE, code_bytes, 2);
	put(const_method + CONST_NAME, 1, 2);
	if (line_bytes)
		memcpy(vm->bytes + (const_method + CONST_SIZE + code_bytes - BASE), lines,
		       line_bytes);
	put(method + METHOD_CONST, const_method, 8);
	return method;
}

static uint64_t make_class(const char *name, uint64_t *ret_symbol)
{
	uint64_t class = room(256), text = symbol(name);

	put(class + CLASS_NAME, text, 8);
	if (ret_symbol)
		*ret_symbol = text;
	return class;
}

static void make_facts(uint64_t members, uint64_t types, uint64_t constants)
{
	struct hotspot_file file = {
		.members = {word(members), word(32), word(0), word(8), word(16), word(24)},
		.types = {word(types), word(32), word(0), 0, word(16), 0},
		.constants = {word(constants), word(32), word(0), 0, word(16), 0},
	};

	vm->facts = (struct runtime_facts){0};
	memcpy(&vm->facts, &file, sizeof(file));
}

static int set_up(void **state)
{
	/* 0: line 7; 4: 9 */
	static const uint8_t lines[] = {0 << 3 | 7, 4 << 3 | 2, 0};
	uint64_t class, queue, methods;

	vm = calloc(1, sizeof(*vm));
	if (!vm)
		return -1;
	vm->next = BASE + 64;
	class = make_class("java/lang/Object", NULL);
	methods = room(32);
	put(methods, 2, 4);
	put(methods + 8, make_method(class, "<init>", "Object.java", NULL, 0, 1), 8);
	put(methods + 16, make_method(class, "hashCode", "Object.java", NULL, 0, 0), 8);
	put(class + CLASS_METHODS, methods, 8);
	vm->object_class = word(class);
	queue = room(32);
	put(queue + QUEUE_START, CODE_START, 8);
	put(queue + QUEUE_BYTES, CODE_BYTES, 4);
	vm->version = word(17);
	vm->method = make_method(make_class("pkg/Outer$Inner", &vm->class_symbol), "run",
				 "Outer.java", lines, sizeof(lines), 8);
	memcpy(&vm->const_method, vm->bytes + (vm->method + METHOD_CONST - BASE), 8);
	{
		const struct row members[] = {
			{"Other", "_constMethod", 8, 0},
			{"Method", "_constMethod", METHOD_CONST, 0},
			{"ConstMethod", "_constants", CONST_CONSTANTS, 0},
			{"ConstMethod", "_constMethod_size", CONST_WORDS, 0},
			{"ConstMethod", "_flags", CONST_FLAGS, 0},
			{"ConstMethod", "_code_size", CONST_CODE, 0},
			{"ConstMethod", "_name_index", CONST_NAME, 0},
			{"ConstantPool", "_pool_holder", CONSTANTS_HOLDER, 0},
			{"ConstantPool", "_source_file_name_index", CONSTANTS_SOURCE, 0},
			{"InstanceKlass", "_methods", CLASS_METHODS, 0},
			{"Klass", "_name", CLASS_NAME, 0},
			{"Symbol", "_length", SYMBOL_LENGTH, 0},
			{"Symbol", "_body", SYMBOL_BYTES, 0},
			{"Array<int>", "_length", 0, 0},
			{"Array<Method*>", "_data", 8, 0},
			{"StubQueue", "_stub_buffer", QUEUE_START, 0},
			{"StubQueue", "_buffer_limit", QUEUE_BYTES, 0},
			{"AbstractInterpreter", "_code", 0, word(queue)},
			{"vmClasses", "_klasses[Object_klass_knum]", 0, vm->object_class},
			{"Abstract_VM_Version", "_vm_major_version", 0, vm->version},
			{"Abstract_VM_Version", "_vm_minor_version", 0, word(0)},
			{"Abstract_VM_Version", "_vm_security_version", 0, word(15)},
		};
		const struct row types[] = {{"ConstMethod", NULL, CONST_SIZE, 0},
					    {"ConstantPool", NULL, CONSTANTS_SIZE, 0}};
		const struct row constants[] = {
			{"ConstMethod::_has_linenumber_table", NULL, HAS_LINES, 0}};

		vm->member_count = ARRAY_SIZE(members);
		vm->members = table(members, vm->member_count);
		make_facts(vm->members, table(types, ARRAY_SIZE(types)),
			   table(constants, ARRAY_SIZE(constants)));
	}
	return 0;
}

static int tear_down(void **state)
{
	free(vm);
	return 0;
}

struct made {
	struct runtime_recipe recipe;
	struct runtime_layout layout;
	struct engine_version version;
};

static int make(struct made *ret)
{
	const struct runtime_process process = {0};

	return hotspot_reader.recipe(&vm->facts, &process, &memory, &ret->recipe, &ret->layout,
				     &ret->version);
}

static int read_method(const struct made *made, struct runtime_function *ret)
{
	return hotspot_reader.function(&memory, &made->recipe, &made->layout, vm->method, 0, ret);
}

CASE_WITH(a_recipe_follows_the_tables, set_up, tear_down)
{
	struct made made = {0};
	const struct runtime_native_frames *native = &made.recipe.native;

	assert_int_equal(make(&made), 0);
	assert_int_equal(made.version.part[0], 17);
	assert_int_equal(made.version.part[2], 15);
	assert_int_equal(native->range_count, 1);
	assert_int_equal(native->range[0].start, CODE_START);
	assert_int_equal(native->range[0].end, CODE_START + CODE_BYTES);
	assert_int_equal(native->layout[0].function_at, -24);
	assert_int_equal(native->layout[0].position_at, -64);
}

CASE_WITH(a_method_has_name_file_and_lines, set_up, tear_down)
{
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
	struct made made = {0};
	uint64_t code;

	assert_int_equal(make(&made), 0);
	assert_int_equal(read_method(&made, &function), 0);
	assert_string_equal(function.name, "pkg.Outer$Inner.run");
	assert_string_equal(function.file, "pkg/Outer.java");
	code = vm->const_method + CONST_SIZE;
	assert_int_equal(function.code, code);
	assert_int_equal(runtime_function_line(&function, code), 7);
	assert_int_equal(runtime_function_line(&function, code + 3), 7);
	assert_int_equal(runtime_function_line(&function, code + 7), 9);
	assert_int_equal(runtime_function_line(&function, code + 8), 0); /* behind the code */
	assert_int_equal(runtime_function_line(&function, 0), 0);
}

CASE_WITH(a_hidden_class_has_its_number_behind_a_slash, set_up, tear_down)
{
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
	struct made made = {0};

	assert_int_equal(make(&made), 0);
	memcpy(vm->bytes + (vm->class_symbol + SYMBOL_BYTES - BASE), "pkg/O$$La+0x12f", 15);
	assert_int_equal(read_method(&made, &function), 0);
	assert_string_equal(function.name, "pkg.O$$La/0x12f.run");
}

/* Another class of the same shape in the same place has another check, but not other references. */
CASE_WITH(the_check_tells_classes_apart, set_up, tear_down)
{
	struct runtime_function first = {0}, second = {0}, third = {0};
	struct made made = {0};

	assert_int_equal(make(&made), 0);
	assert_int_equal(read_method(&made, &first), 0);
	put(vm->class_symbol, 0x5a5a0007, 4);
	assert_int_equal(read_method(&made, &second), 0);
	assert_true(first.check && first.check == second.check);
	put(vm->class_symbol, 0x5a5b0007, 4);
	assert_int_equal(read_method(&made, &third), 0);
	assert_true(first.check != third.check);
	runtime_function_deinit(&first);
	runtime_function_deinit(&second);
	runtime_function_deinit(&third);
}

CASE_WITH(a_virtual_machine_that_starts_is_not_ready, set_up, tear_down)
{
	struct made made = {0};

	put(vm->object_class, 0, 8);
	assert_int_equal(make(&made), -ENODATA);
}

CASE_WITH(other_versions_are_told, set_up, tear_down)
{
	struct made made = {0};

	put(vm->version, 8, 4);
	assert_int_equal(make(&made), -ENOTSUP);
	assert_int_equal(made.version.part[0], 8);
	put(vm->version, 99, 4);
	assert_int_equal(make(&made), -ENOTSUP);
}

/* Each entry alone is missing, or lies: no recipe, or one that is of use. */
CASE_WITH(tables_that_lack_or_lie_are_refused, set_up, tear_down)
{
	for (uint32_t i = 1; i < vm->member_count; i++) {
		uint64_t entry = vm->members + 32ull * i, name;
		bool is_optional = i == 8;
		struct made made = {0};

		memcpy(&name, vm->bytes + (entry + 8 - BASE), 8);
		put(entry + 8, string("_nothing"), 8);
		assert_int_equal(make(&made), is_optional ? 0 : -EBADMSG);
		put(entry + 8, name, 8);
		if (i <= 16) {
			put(entry + 16, 1ull << 40, 8);
			assert_int_equal(make(&made), -EBADMSG);
			tear_down(state);
			assert_int_equal(set_up(state), 0);
		}
	}
}

CASE_WITH(tables_without_an_end_are_refused, set_up, tear_down)
{
	struct made made = {0};

	/* A stride of 16 within names that are never null. */
	for (uint64_t at = vm->members; at < vm->members + 32ull * (vm->member_count + 1); at += 8)
		put(at, vm->members, 8);
	assert_true(make(&made) < 0);
}
