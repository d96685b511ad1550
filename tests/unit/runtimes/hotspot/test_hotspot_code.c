/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A code cache with one heap: a compiled method that has inlined another one, stubs, and free
 * memory. In both forms that versions of the virtual machine have.
 */
#include "base/scope.h"
#include "decode/record/scope_table.h"
#include "runtimes/hotspot/hotspot_code.h"
#include "runtimes/hotspot/hotspot_stubs.h"
#include "tests/unit/runtimes/hotspot/small_vm.h"

#define SHIFT	      6
#define SEGMENT	      (1u << SHIFT)
#define BLOCK_HEAD    16
#define METHOD_BLOCK  1 /* segments of the heap */
#define STUBS_BLOCK   9
#define FREE_BLOCK    13
#define SEGMENTS      16
#define BLOB_HEAD     160
#define METHOD_CODE   64
#define STUBS_CODE    64
#define COMPILE_ID    77
#define KIND_COMPILED 1

static const struct hotspot_layout addresses = {
	.major = 17,
	.method_const = METHOD_CONST,
	.const_constants = CONST_CONSTANTS,
	.const_words = CONST_WORDS,
	.const_flags = CONST_FLAGS,
	.const_code_bytes = CONST_CODE,
	.const_name = CONST_NAME,
	.const_size = CONST_SIZE,
	.line_flag = HAS_LINES,
	.constants_holder = CONSTANTS_HOLDER,
	.constants_size = CONSTANTS_SIZE,
	.constants_source = CONSTANTS_SOURCE,
	.class_name = CLASS_NAME,
	.class_methods = CLASS_METHODS,
	.class_constants = CLASS_CONSTANTS,
	.symbol_length = SYMBOL_LENGTH,
	.symbol_bytes = SYMBOL_BYTES,
	.code =
		{
			.form = HOTSPOT_CODE_ADDRESSES,
			.heaps_count = 0,
			.heaps_data = 8,
			.memory = 16,
			.segments = 48,
			.shift = 80,
			.space_low = 8,
			.space_high = 16,
			.block_length = 0,
			.block_used = 8,
			.block_size = BLOCK_HEAD,
			.blob_size = 8,
			.blob_name = 16,
			.code_start = 24,
			.code_end = 32,
			.compiled_method = 40,
			.compile_id = 48,
			.scopes_pcs = 52,
			.scopes_pcs_end = 56,
			.metadata = 60,
			.scopes_data = 64,
		},
};

struct made {
	struct hotspot_layout layout;
	struct runtime_native_range interpreter;
	uint64_t heap_start, map, outer, inner, blob, places, data, metadata;
	bool changes; /* when it is read again */
};

static struct made made;

static void refresh(void *context)
{
	if (made.changes)
		put(made.blob + made.layout.code.compile_id, COMPILE_ID + 1, 4);
}

static const struct process_memory memory = {.read = read_bytes, .refresh = refresh};

static uint64_t block_at(uint32_t segment)
{
	return made.heap_start + segment * SEGMENT;
}

static uint64_t make_block(uint32_t first, uint32_t segments, bool used)
{
	put(block_at(first), segments, 4);
	put(block_at(first) + made.layout.code.block_used, used, 1);
	put(made.map + first, 0, 1);
	for (uint32_t i = 1; i < segments; i++)
		put(made.map + first + i, i < 3 ? i : 2, 1); /* some in two or more steps */
	return block_at(first) + BLOCK_HEAD;
}

static void make_blob(uint64_t blob, uint64_t size_bytes, const char *name, uint8_t kind,
		      uint64_t code_bytes)
{
	const struct hotspot_code_layout *code = &made.layout.code;
	bool has_addresses = code->form == HOTSPOT_CODE_ADDRESSES;
	uint64_t start = has_addresses ? blob + BLOB_HEAD : BLOB_HEAD;

	put(blob + code->blob_size, size_bytes, 4);
	put(blob + code->blob_name, string(name), 8);
	put(blob + code->code_start, start, has_addresses ? 8 : 4);
	put(blob + code->code_end, start + code_bytes, has_addresses ? 8 : 4);
	if (!has_addresses)
		put(blob + code->blob_kind, kind, 1);
}

static void put_place(uint32_t i, uint32_t pc, uint32_t scope)
{
	put(made.places + 16ull * i, pc, 4);
	put(made.places + 16ull * i + 4, scope, 4);
}

/* Scopes: at 1: outer, index 4; at 4: inner, index 1, called by that; at 7: outer, no index. */
static void make_scopes(void)
{
	static const uint8_t scopes[] = {9, 0, 2, 5, 1, 1, 2, 0, 2, 0, 0};
	uint32_t zero_free = made.layout.has_zero_free_numbers;

	for (uint32_t i = 0; i < sizeof(scopes); i++)
		put(made.data + i, scopes[i] + zero_free, 1);
	put(made.metadata, made.inner, 8);
	put(made.metadata + 8, made.outer, 8);
	put_place(0, UINT32_MAX, 0); /* the list begins and ends with a place of no scope */
	put_place(1, 15, 1);
	put_place(2, 31, 4);
	put_place(3, 39, 7);
	put_place(4, 1000, 0);
}

static void make_compiled(void)
{
	const struct hotspot_code_layout *code = &made.layout.code;
	uint64_t blob = make_block(METHOD_BLOCK, 8, true);
	uint32_t tables = BLOB_HEAD + METHOD_CODE;

	made.blob = blob;
	make_blob(blob, 8 * SEGMENT - BLOCK_HEAD, "nmethod", KIND_COMPILED, METHOD_CODE);
	put(blob + code->compiled_method, made.outer, 8);
	put(blob + code->compile_id, COMPILE_ID, 4);
	if (code->form == HOTSPOT_CODE_ADDRESSES) {
		made.metadata = blob + tables;
		made.data = made.metadata + 16;
		made.places = made.data + 16;
		put(blob + code->metadata, tables, 4);
		put(blob + code->scopes_data, made.data, 8);
		put(blob + code->scopes_pcs, tables + 32, 4);
		put(blob + code->scopes_pcs_end, tables + 32 + 5 * 16, 4);
	} else {
		uint64_t mutable = room(64), immutable = room(256);

		made.metadata = mutable + 24;
		made.places = immutable + 8;
		made.data = made.places + 5 * 16;
		put(blob + code->mutable, mutable, 8);
		put(blob + code->mutable_bytes, 40, 4);
		put(blob + code->relocation_bytes, 24, 4);
		put(blob + code->immutable, immutable, 8);
		put(blob + code->immutable_bytes, 8 + 5 * 16 + 11, 4);
		put(blob + code->scopes_pcs, 8, 4);
		put(blob + code->scopes_data_offset, 8 + 5 * 16, 4);
	}
	make_scopes();
}

/* [0, 16) and [32, 64) of the code of the blob. */
static void make_stubs(void)
{
	uint64_t blob = make_block(STUBS_BLOCK, 4, true), first = room(40), second = room(40);
	uint64_t code = blob + BLOB_HEAD;

	make_blob(blob, 4 * SEGMENT - BLOCK_HEAD, "StubRoutines (1)", 2, STUBS_CODE);
	put(first, second, 8);
	put(first + 16, string("fill"), 8);
	put(first + 24, code + 32, 8);
	put(first + 32, code + 64, 8);
	put(second + 16, string("copy"), 8);
	put(second + 24, code, 8);
	put(second + 32, code + 16, 8);
	made.layout.code.stubs = word(first);
}

static void make_methods(void)
{
	static const uint8_t outer_lines[] = {0 << 3 | 5, 4 << 3 | 2, 0}; /* 0: line 5; 4: 7 */
	static const uint8_t inner_lines[] = {0 << 3 | 3, 0};

	made.outer = make_method(make_class("pkg/Outer", NULL), "run", "Outer.java", outer_lines,
				 sizeof(outer_lines), 8);
	made.inner = make_method(make_class("Inner", NULL), "get", NULL, inner_lines,
				 sizeof(inner_lines), 8);
}

static void make_heap(void)
{
	const struct hotspot_code_layout *code = &made.layout.code;
	uint64_t heap = room(128), heaps = room(32);

	made.heap_start = room(SEGMENTS * SEGMENT);
	made.map = room(SEGMENTS);
	put(heap + code->memory + code->space_low, made.heap_start, 8);
	put(heap + code->memory + code->space_high, made.heap_start + SEGMENTS * SEGMENT, 8);
	put(heap + code->segments + code->space_low, made.map, 8);
	put(heap + code->shift, SHIFT, 4);
	put(heaps + code->heaps_count, 1, 4);
	put(heaps + code->heaps_data, word(heap), 8);
	made.layout.code.heaps = word(heaps);
	for (uint32_t i = 0; i < SEGMENTS; i++)
		put(made.map + i, 0xff, 1);
}

static int make_all(const struct hotspot_layout *layout)
{
	if (vm_set_up())
		return -1;
	made = (struct made){.layout = *layout};
	made.interpreter = (struct runtime_native_range){.start = 0x7f000000, .end = 0x7f010000};
	make_methods();
	make_heap();
	make_compiled();
	make_stubs();
	make_block(FREE_BLOCK, 3, false);
	return 0;
}

static int set_up(void **state)
{
	return make_all(&addresses);
}

static int set_up_offsets(void **state)
{
	struct hotspot_layout layout = addresses;

	layout.has_zero_free_numbers = 1;
	layout.code.form = HOTSPOT_CODE_OFFSETS;
	layout.code.block_used = 4;
	layout.code.kind_compiled = KIND_COMPILED;
	layout.code.blob_kind = 68;
	layout.code.relocation_bytes = 72;
	layout.code.mutable_bytes = 76;
	layout.code.mutable = 80;
	layout.code.immutable = 88;
	layout.code.immutable_bytes = 96;
	layout.code.scopes_data_offset = 100;
	return make_all(&layout);
}

static int tear_down(void **state)
{
	free(vm);
	return 0;
}

static uint64_t method_code(void)
{
	return made.blob + BLOB_HEAD;
}

static int code_at(uint64_t address, struct runtime_code *ret)
{
	return hotspot_code_at(&memory, &made.layout, &made.interpreter, address, ret);
}

/* Compares the chain of scopes at an offset, outermost last: "name:line, name:line". */
static void assert_scopes(const struct runtime_code *code, uint32_t offset, const char *expected)
{
	struct scope_table table;
	char text[256] = "";

	assert_int_equal(scope_table_decode(code->scopes, code->scope_bytes, &table), 0);
	for (uint32_t at = scope_table_at(&table, offset); at != JITBPF_NO_SCOPE;) {
		struct scope scope = scope_table_get(&table, at);

		sprintf(text + strlen(text), "%s%s:%u", *text ? ", " : "", scope.name, scope.line);
		at = scope.caller;
	}
	assert_string_equal(text, expected);
}

static void assert_method(void)
{
	CLEANUP(runtime_code_deinit) struct runtime_code code = {0};
	bool same = false;

	assert_int_equal(code_at(method_code() + METHOD_CODE - 1, &code), 0);
	assert_int_equal(code.start, method_code());
	assert_int_equal(code.size_bytes, METHOD_CODE);
	assert_string_equal(code.name, "pkg.Outer.run");
	assert_string_equal(code.source, "pkg/Outer.java");
	assert_scopes(&code, 0, "pkg.Outer.run:7");
	assert_scopes(&code, 15, "pkg.Outer.run:7");
	assert_scopes(&code, 16, "Inner.get:3, pkg.Outer.run:7");
	assert_scopes(&code, 31, "Inner.get:3, pkg.Outer.run:7");
	assert_scopes(&code, 32, "pkg.Outer.run:0");
	assert_scopes(&code, 40, "");
	assert_true(runtime_code_is_valid(&code, method_code()));
	assert_int_equal(runtime_identity_holds(&code.identity, &memory, &same), 0);
	assert_true(same);
	put(made.blob + made.layout.code.compile_id, COMPILE_ID + 1, 4);
	assert_int_equal(runtime_identity_holds(&code.identity, &memory, &same), 0);
	assert_false(same);
	/* A block is freed, and its end is used again: its beginning stays. */
	put(made.blob + made.layout.code.compile_id, COMPILE_ID, 4);
	put(block_at(METHOD_BLOCK) + made.layout.code.block_used, 0, 1);
	assert_int_equal(runtime_identity_holds(&code.identity, &memory, &same), 0);
	assert_false(same);
}

CASE_WITH(a_compiled_method_has_name_and_scopes, set_up, tear_down)
{
	assert_method();
}

CASE_WITH(a_compiled_method_of_later_versions_too, set_up_offsets, tear_down)
{
	assert_method();
}

CASE_WITH(the_interpreter_has_its_name, set_up, tear_down)
{
	CLEANUP(runtime_code_deinit) struct runtime_code code = {0};

	assert_int_equal(code_at(made.interpreter.end - 1, &code), 0);
	assert_string_equal(code.name, "Interpreter");
	assert_int_equal(code.start, made.interpreter.start);
	assert_int_equal(code.size_bytes, 0x10000);
}

static void assert_stub(uint64_t offset, const char *name, uint64_t from, uint64_t to)
{
	CLEANUP(runtime_code_deinit) struct runtime_code code = {0};
	uint64_t start = block_at(STUBS_BLOCK) + BLOCK_HEAD + BLOB_HEAD;

	assert_int_equal(code_at(start + offset, &code), 0);
	assert_string_equal(code.name, name);
	assert_int_equal(code.start, start + from);
	assert_int_equal(code.size_bytes, to - from);
	assert_null(code.scopes);
	/* Stubs of the list are never freed. */
	assert_int_equal(!code.identity.word[0].mask, !strchr(name, ' '));
	assert_int_equal(!code.identity.word[1].mask, !strchr(name, ' '));
}

CASE_WITH(a_stub_has_a_part_of_its_blob, set_up, tear_down)
{
	assert_stub(0, "copy", 0, 16);
	assert_stub(63, "fill", 32, 64);
	assert_stub(20, "StubRoutines (1)", 16, 32);
	made.layout.code.stubs = 0;
	assert_stub(20, "StubRoutines (1)", 0, 64);
}

/* Puts a stub into a bucket of a table; its code is behind its head of 16 bytes. */
static uint64_t put_call_stub(uint64_t table, uint32_t bucket, uint64_t next, uint8_t is_virtual)
{
	uint64_t stub = room(64);

	put(stub, next, 8);
	put(stub + 14, is_virtual, 1);
	put(table + 8 * bucket, stub, 8);
	return stub;
}

static void assert_call_stub(uint64_t address, const char *name, uint64_t start,
			     uint64_t size_bytes)
{
	struct hotspot_stub stub;

	assert_int_equal(
		hotspot_call_stub_find(&memory, &made.layout.code.call_stubs, address, &stub), 0);
	assert_string_equal(stub.name, name);
	assert_int_equal(stub.start, start);
	assert_int_equal(stub.end, start + size_bytes);
}

CASE_WITH(a_stub_that_calls_by_index_has_its_kind, set_up, tear_down)
{
	uint64_t table = room(256 * 8), first, second;
	struct hotspot_call_stubs *stubs = &made.layout.code.call_stubs;
	struct hotspot_stub stub;

	*stubs = (struct hotspot_call_stubs){table, word(16), word(40)};
	first = put_call_stub(table, 255, 0, 1);
	second = put_call_stub(table, 255, first, 0);
	assert_call_stub(first + 16, "vtable stub", first + 16, 16);
	assert_call_stub(second + 16 + 39, "itable stub", second + 16, 40);
	assert_int_equal(hotspot_call_stub_find(&memory, stubs, first + 32, &stub), -ENOENT);
	put(first + 14, 2, 1); /* of no kind */
	assert_int_equal(hotspot_call_stub_find(&memory, stubs, first + 16, &stub), -ENOENT);
	put(first, second, 8); /* a table without an end */
	assert_int_equal(hotspot_call_stub_find(&memory, stubs, first + 16, &stub), -EBADMSG);
}

CASE_WITH(the_list_of_stubs_is_checked, set_up, tear_down)
{
	uint64_t inside = word(block_at(STUBS_BLOCK) + BLOCK_HEAD + BLOB_HEAD + 40);
	uint64_t first = 0, name;

	assert_false(hotspot_stubs_are_valid(&memory, made.layout.code.stubs, inside));
	assert_int_equal(process_memory_word(&memory, made.layout.code.stubs, &first), 0);
	name = string("call_stub");
	put(first + 16, name, 8);
	assert_true(hotspot_stubs_are_valid(&memory, made.layout.code.stubs, inside));
	put(first, first, 8); /* a list without an end */
	assert_false(hotspot_stubs_are_valid(&memory, made.layout.code.stubs, word(1)));
}

CASE_WITH(no_code_is_where_none_is, set_up, tear_down)
{
	struct runtime_code code = {0};

	assert_int_equal(code_at(made.blob, &code), -ENOENT);	    /* a head */
	assert_int_equal(code_at(made.heap_start, &code), -ENOENT); /* no block */
	assert_int_equal(code_at(block_at(FREE_BLOCK) + 40, &code), -ENOENT);
	assert_int_equal(code_at(made.heap_start - 1, &code), -ENOENT);
	assert_int_equal(code_at(made.heap_start + SEGMENTS * SEGMENT, &code), -ENOENT);
	put(made.blob + made.layout.code.compiled_method, 0, 8);
	assert_int_equal(code_at(method_code(), &code), -ENOENT);
	made.layout.code.form = HOTSPOT_CODE_UNKNOWN;
	assert_int_equal(code_at(method_code(), &code), -ENOENT);
}

CASE_WITH(code_that_changes_meanwhile_is_told, set_up, tear_down)
{
	struct runtime_code code = {0};

	made.changes = true;
	assert_int_equal(code_at(method_code(), &code), -EAGAIN);
}

CASE_WITH(a_heap_that_lies_is_refused, set_up, tear_down)
{
	struct runtime_code code = {0};

	put(made.map + METHOD_BLOCK + 2, 200, 1); /* before the heap */
	assert_int_equal(code_at(method_code() + 10, &code), -EBADMSG);
	put(made.map + METHOD_BLOCK + 2, 2, 1);
	put(block_at(METHOD_BLOCK), 1000, 4); /* longer than the heap */
	assert_int_equal(code_at(method_code() + 10, &code), -EBADMSG);
	put(block_at(METHOD_BLOCK), 1, 4); /* does not hold the address */
	assert_int_equal(code_at(method_code() + 10, &code), -EBADMSG);
	put(block_at(METHOD_BLOCK), 8, 4);
	put(made.blob + made.layout.code.code_end, method_code() + 0x1000, 8);
	assert_int_equal(code_at(method_code() + 10, &code), -EBADMSG);
}

static void assert_no_scopes(void)
{
	CLEANUP(runtime_code_deinit) struct runtime_code code = {0};

	assert_int_equal(code_at(method_code(), &code), 0);
	assert_string_equal(code.name, "pkg.Outer.run");
	assert_null(code.scopes);
}

/* Each of them alone leaves the name. */
CASE_WITH(tables_that_lie_make_no_scopes, set_up, tear_down)
{
	put(made.metadata + 8, made.inner, 8); /* the outermost method is another one */
	assert_no_scopes();
	put(made.metadata + 8, made.outer, 8);
	put(made.data + 5, 3, 1); /* a method behind the metadata */
	assert_no_scopes();
	put(made.data + 5, 1, 1);
	put_place(2, 31, 5000);
	assert_no_scopes();
	put_place(2, 31, 4);
	put(made.blob + made.layout.code.scopes_pcs, 0x10000, 4);
	assert_no_scopes();
}

/* A scope that is its own caller is in no scope. */
CASE_WITH(a_chain_without_an_end_is_no_scope, set_up, tear_down)
{
	CLEANUP(runtime_code_deinit) struct runtime_code code = {0};

	put(made.data + 4, 4, 1);
	assert_int_equal(code_at(method_code(), &code), 0);
	assert_scopes(&code, 0, "pkg.Outer.run:7");
	assert_scopes(&code, 20, "");
	assert_scopes(&code, 32, "pkg.Outer.run:0");
}

static uint32_t few(void *context)
{
	return 10;
}

/* The name of the method itself is read in any case. */
CASE_WITH(without_reads_left_a_place_is_in_no_scope, set_up, tear_down)
{
	const struct process_memory short_of = {.read = read_bytes, .left = few};
	CLEANUP(runtime_code_deinit) struct runtime_code code = {0};

	assert_int_equal(
		hotspot_code_at(&short_of, &made.layout, &made.interpreter, method_code(), &code),
		0);
	assert_string_equal(code.name, "pkg.Outer.run");
	assert_scopes(&code, 0, "");
}
