/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A virtual machine in a few kilobytes: tables of its structures, whose offsets are those of no
 * version, the class java.lang.Object and a class with a method. The reader must follow the tables.
 */
#include "base/scope.h"
#include "runtimes/hotspot/hotspot_method.h"
#include "runtimes/hotspot/hotspot_reader.h"
#include "tests/unit/runtimes/hotspot/small_vm.h"

/* Of the queue with the interpreter's code. */
enum { QUEUE_START = 8, QUEUE_BYTES = 20 };

#define CODE_START 0x7f0000001000ull
#define CODE_BYTES 0x20000

static const struct process_memory memory = {.read = read_bytes};

static struct {
	struct runtime_facts facts;
	uint64_t object_class, method, const_method, class_symbol, version, members;
	uint32_t member_count;
} made_vm;

/* Rows of a table: three names or numbers, or so. */
struct row {
	const char *type, *member;
	uint64_t value, address;
};

static void put_rows(uint64_t at, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		put(at + 32 * i, string(rows[i].type), 8);
		put(at + 32 * i + 8, rows[i].member ? string(rows[i].member) : 0, 8);
		put(at + 32 * i + 16, rows[i].value, 8);
		put(at + 32 * i + 24, rows[i].address, 8);
	}
}

static uint64_t table(const struct row *rows, size_t count)
{
	uint64_t at = room((count + 1) * 32);

	put_rows(at, rows, count);
	return at;
}

static void make_facts(uint64_t members, uint64_t types, uint64_t constants)
{
	struct hotspot_file file = {
		.members = {word(members), word(32), word(0), word(8), word(16), word(24)},
		.types = {word(types), word(32), word(0), 0, word(16), 0},
		.constants = {word(constants), word(32), word(0), 0, word(16), 0},
	};

	made_vm.facts = (struct runtime_facts){0};
	memcpy(&made_vm.facts, &file, sizeof(file));
}

static int set_up(void **state)
{
	/* 0: line 7; 4: 9 */
	static const uint8_t lines[] = {0 << 3 | 7, 4 << 3 | 2, 0};
	uint64_t class, queue, methods;

	if (vm_set_up())
		return -1;
	class = make_class("java/lang/Object", NULL);
	methods = room(32);
	put(methods, 2, 4);
	put(methods + 8, make_method(class, "<init>", "Object.java", NULL, 0, 1), 8);
	put(methods + 16, make_method(class, "hashCode", "Object.java", NULL, 0, 0), 8);
	put(class + CLASS_METHODS, methods, 8);
	made_vm.object_class = word(class);
	queue = room(32);
	put(queue + QUEUE_START, CODE_START, 8);
	put(queue + QUEUE_BYTES, CODE_BYTES, 4);
	made_vm.version = word(17);
	made_vm.method = make_method(make_class("pkg/Outer$Inner", &made_vm.class_symbol), "run",
				     "Outer.java", lines, sizeof(lines), 8);
	memcpy(&made_vm.const_method, vm->bytes + (made_vm.method + METHOD_CONST - BASE), 8);
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
			{"InstanceKlass", "_constants", CLASS_CONSTANTS, 0},
			{"Klass", "_name", CLASS_NAME, 0},
			{"Symbol", "_length", SYMBOL_LENGTH, 0},
			{"Symbol", "_body", SYMBOL_BYTES, 0},
			{"Array<int>", "_length", 0, 0},
			{"Array<Method*>", "_data", 8, 0},
			{"StubQueue", "_stub_buffer", QUEUE_START, 0},
			{"StubQueue", "_buffer_limit", QUEUE_BYTES, 0},
			{"AbstractInterpreter", "_code", 0, word(queue)},
			{"vmClasses", "_klasses[Object_klass_knum]", 0, made_vm.object_class},
			{"Abstract_VM_Version", "_vm_major_version", 0, made_vm.version},
			{"Abstract_VM_Version", "_vm_minor_version", 0, word(0)},
			{"Abstract_VM_Version", "_vm_security_version", 0, word(15)},
		};
		const struct row types[] = {{"ConstMethod", NULL, CONST_SIZE, 0},
					    {"ConstantPool", NULL, CONSTANTS_SIZE, 0},
					    {"HeapBlock", NULL, 16, 0}};
		const struct row constants[] = {
			{"ConstMethod::_has_linenumber_table", NULL, HAS_LINES, 0},
			{"CodeBlobKind::Nmethod", NULL, 1, 0}};

		made_vm.member_count = ARRAY_SIZE(members);
		made_vm.members = table(members, made_vm.member_count);
		make_facts(made_vm.members, table(types, ARRAY_SIZE(types)),
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

	return hotspot_reader.recipe(&made_vm.facts, &process, &memory, &ret->recipe, &ret->layout,
				     &ret->version);
}

static int read_method(const struct made *made, struct runtime_function *ret)
{
	return hotspot_reader.function(&memory, &made->recipe, &made->layout, made_vm.method, 0,
				       ret);
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
	code = made_vm.const_method + CONST_SIZE;
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
	memcpy(vm->bytes + (made_vm.class_symbol + SYMBOL_BYTES - BASE), "pkg/O$$La+0x12f", 15);
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
	put(made_vm.class_symbol, 0x5a5a0007, 4);
	assert_int_equal(read_method(&made, &second), 0);
	assert_true(first.check && first.check == second.check);
	put(made_vm.class_symbol, 0x5a5b0007, 4);
	assert_int_equal(read_method(&made, &third), 0);
	assert_true(first.check != third.check);
	runtime_function_deinit(&first);
	runtime_function_deinit(&second);
	runtime_function_deinit(&third);
}

CASE_WITH(a_virtual_machine_that_starts_is_not_ready, set_up, tear_down)
{
	struct made made = {0};

	put(made_vm.object_class, 0, 8);
	assert_int_equal(make(&made), -ENODATA);
}

CASE_WITH(other_versions_are_told, set_up, tear_down)
{
	struct made made = {0};

	put(made_vm.version, 8, 4);
	assert_int_equal(make(&made), -ENOTSUP);
	assert_int_equal(made.version.part[0], 8);
	put(made_vm.version, 99, 4);
	assert_int_equal(make(&made), -ENOTSUP);
}

/* Each entry alone is missing, or lies: no recipe, or one that is of use. */
CASE_WITH(tables_that_lack_or_lie_are_refused, set_up, tear_down)
{
	for (uint32_t i = 1; i < made_vm.member_count; i++) {
		uint64_t entry = made_vm.members + 32ull * i, name;
		bool is_optional = i == 8;
		struct made made = {0};

		memcpy(&name, vm->bytes + (entry + 8 - BASE), 8);
		put(entry + 8, string("_nothing"), 8);
		assert_int_equal(make(&made), is_optional ? 0 : -EBADMSG);
		put(entry + 8, name, 8);
		if (i <= 17) {
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
	for (uint64_t at = made_vm.members;
	     at < made_vm.members + 32ull * (made_vm.member_count + 1); at += 8)
		put(at, made_vm.members, 8);
	assert_true(make(&made) < 0);
}

/* Put a table with more members in the place of the one that there is. */
static void add_members(const struct row *rows, size_t count)
{
	uint32_t before = made_vm.member_count;
	uint64_t at = room((before + count + 1) * 32);

	memcpy(vm->bytes + (at - BASE), vm->bytes + (made_vm.members - BASE), 32ull * before);
	put_rows(at + 32ull * before, rows, count);
	put(made_vm.facts.words[0], at, 8);
	made_vm.members = at;
	made_vm.member_count = (uint32_t)(before + count);
}

static const struct row code_rows[] = {
	{"CodeCache", "_heaps", 0, 0x5000},
	{"GrowableArrayBase", "_len", 0, 0},
	{"GrowableArray<int>", "_data", 8, 0},
	{"CodeHeap", "_memory", 8, 0},
	{"CodeHeap", "_segmap", 120, 0},
	{"CodeHeap", "_log2_segment_size", 256, 0},
	{"VirtualSpace", "_low", 16, 0},
	{"VirtualSpace", "_high", 24, 0},
	{"HeapBlock::Header", "_length", 0, 0},
	{"HeapBlock::Header", "_used", 8, 0},
	{"CodeBlob", "_name", 96, 0},
	{"CodeBlob", "_size", 12, 0},
	{"nmethod", "_method", 80, 0},
	{"nmethod", "_compile_id", 304, 0},
	{"nmethod", "_scopes_pcs_offset", 268, 0},
};

static const struct row address_rows[] = {
	{"CodeBlob", "_code_begin", 32, 0},
	{"CodeBlob", "_code_end", 40, 0},
	{"CompiledMethod", "_scopes_data_begin", 120, 0},
	{"nmethod", "_dependencies_offset", 272, 0},
	{"nmethod", "_metadata_offset", 260, 0},
};

static const struct row offset_rows[] = {
	{"CodeBlob", "_code_offset", 36, 0},
	{"CodeBlob", "_data_offset", 40, 0},
	{"CodeBlob", "_kind", 56, 0},
	{"CodeBlob", "_relocation_size", 28, 0},
	{"CodeBlob", "_mutable_data", 16, 0},
	{"CodeBlob", "_mutable_data_size", 48, 0},
	{"nmethod", "_immutable_data", 96, 0},
	{"nmethod", "_immutable_data_size", 160, 0},
	{"nmethod", "_scopes_data_offset", 200, 0},
};

static struct hotspot_code_layout made_code(void)
{
	struct hotspot_layout layout;
	struct made made = {0};

	assert_int_equal(make(&made), 0);
	memcpy(&layout, &made.layout, sizeof(layout));
	return layout.code;
}

CASE_WITH(tables_of_code_have_the_form_of_addresses, set_up, tear_down)
{
	struct hotspot_code_layout code = made_code();

	assert_int_equal(code.form, HOTSPOT_CODE_UNKNOWN);
	add_members(code_rows, ARRAY_SIZE(code_rows));
	assert_int_equal(made_code().form, HOTSPOT_CODE_UNKNOWN);
	add_members(address_rows, ARRAY_SIZE(address_rows));
	code = made_code();
	assert_int_equal(code.form, HOTSPOT_CODE_ADDRESSES);
	assert_int_equal(code.heaps, 0x5000);
	assert_int_equal(code.block_size, 16);
	assert_int_equal(code.code_end, 40);
	assert_int_equal(code.compiled_method, 80);
	assert_int_equal(code.metadata, 260);
	assert_int_equal(code.stubs, 0);
}

/* A version that lacks one of them has no form. */
CASE_WITH(tables_of_code_have_the_form_of_offsets, set_up, tear_down)
{
	struct hotspot_code_layout code;

	add_members(code_rows, ARRAY_SIZE(code_rows));
	add_members(offset_rows, ARRAY_SIZE(offset_rows) - 1);
	assert_int_equal(made_code().form, HOTSPOT_CODE_UNKNOWN);
	add_members(&offset_rows[ARRAY_SIZE(offset_rows) - 1], 1);
	code = made_code();
	assert_int_equal(code.form, HOTSPOT_CODE_OFFSETS);
	assert_int_equal(code.code_start, 36);
	assert_int_equal(code.kind_compiled, 1);
	assert_int_equal(code.scopes_data_offset, 200);
}
