/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of a hostile Java virtual machine: its tables, methods, lines and code. The first byte
 * selects what is read; the rest repeats in the whole address space but for its upper half, so that
 * nearly all pointers lead somewhere.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/scope.h"
#include "base/utf8.h"
#include "decode/record/scope_table.h"
#include "runtimes/hotspot/hotspot_code.h"
#include "runtimes/hotspot/hotspot_lines.h"
#include "runtimes/hotspot/hotspot_method.h"
#include "runtimes/hotspot/hotspot_reader.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/seeds.h"

SEEDS(5);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

#define TABLE_READS_MAX (3 * 4096 * 16) /* entries of three tables, and their names */

enum { LINES, LINES_ZERO_FREE, METHOD, TABLES, CODE, CODE_OFFSETS, KINDS };

#define CODE_READS_MAX 8192

struct hostile {
	const uint8_t *data;
	size_t size_bytes;
	uint32_t reads;
	uint64_t read_bytes;
};

/* As Java 17 has it. */
static const struct hotspot_layout layout = {
	.major = 17,
	.method_const = 8,
	.const_constants = 8,
	.const_words = 24,
	.const_flags = 28,
	.const_code_bytes = 32,
	.const_name = 34,
	.const_size = 48,
	.line_flag = 1,
	.constants_holder = 24,
	.constants_size = 72,
	.constants_source = 54,
	.class_name = 24,
	.class_methods = 408,
	.class_constants = 232,
	.symbol_length = 4,
	.symbol_bytes = 6,
	.array_methods = 8,
};

static int read_hostile(void *context, uint64_t address, void *buf, size_t size_bytes)
{
	struct hostile *hostile = context;
	uint8_t *to = buf;

	hostile->reads++;
	hostile->read_bytes += size_bytes;
	if (address >> 63)
		return -EFAULT;
	for (size_t i = 0; i < size_bytes; i++)
		to[i] = hostile->data[(address + i) % hostile->size_bytes];
	return 0;
}

static uint32_t left(void *context)
{
	const struct hostile *hostile = context;

	return hostile->reads < CODE_READS_MAX ? CODE_READS_MAX - hostile->reads : 0;
}

static void check_utf8(const char *text, size_t bytes_max)
{
	uint32_t bytes;

	CHECK(strlen(text) <= bytes_max);
	for (const char *at = text; *at; at += bytes)
		CHECK(utf8_next(at, &bytes) != UTF8_INVALID);
}

static void check_lines(const struct runtime_function *function)
{
	CHECK(function->lines.size <= RUNTIME_LINES_MAX);
	for (size_t i = 1; i < function->lines.size; i++)
		CHECK(function->lines.data[i].position > function->lines.data[i - 1].position);
}

static void read_method(struct hostile *hostile, const struct process_memory *memory)
{
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
	const struct runtime_check check = hotspot_method_check(&layout);
	int err = hotspot_method_read(memory, &layout, &check, hostile->size_bytes, &function);

	CHECK(!err || err == -EBADMSG || err == -EFAULT);
	CHECK(hostile->reads <= HOTSPOT_METHOD_READS_MAX);
	CHECK(hostile->read_bytes <= HOTSPOT_METHOD_BYTES_MAX);
	if (err)
		return;
	check_utf8(function.name, RUNTIME_NAME_MAX);
	check_utf8(function.file, RUNTIME_FILE_MAX);
	CHECK(*function.name && function.code && !(function.check & 1));
	check_lines(&function);
	seed_taken();
}

/* As Java 17 has it, and 25. */
static const struct hotspot_code_layout addresses = {
	.form = HOTSPOT_CODE_ADDRESSES,
	.heaps_data = 8,
	.memory = 8,
	.segments = 120,
	.shift = 256,
	.space_low = 16,
	.space_high = 24,
	.block_used = 8,
	.block_size = 16,
	.blob_name = 96,
	.blob_size = 12,
	.code_start = 32,
	.code_end = 40,
	.compiled_method = 112,
	.compile_id = 304,
	.scopes_pcs = 268,
	.scopes_pcs_end = 272,
	.scopes_data = 120,
	.metadata = 260,
};

static const struct hotspot_code_layout offsets = {
	.form = HOTSPOT_CODE_OFFSETS,
	.heaps_data = 8,
	.segments = 112,
	.shift = 248,
	.space_low = 16,
	.space_high = 24,
	.block_used = 4,
	.block_size = 8,
	.blob_name = 8,
	.blob_size = 24,
	.code_start = 36,
	.code_end = 40,
	.compiled_method = 80,
	.compile_id = 212,
	.scopes_pcs = 196,
	.blob_kind = 56,
	.kind_compiled = 1,
	.relocation_bytes = 28,
	.mutable = 16,
	.mutable_bytes = 48,
	.immutable = 96,
	.immutable_bytes = 160,
	.scopes_data_offset = 200,
};

static void read_code(struct hostile *hostile, const struct hotspot_code_layout *code_layout)
{
	const struct process_memory memory = {
		.read = read_hostile, .left = left, .context = hostile};
	const struct runtime_native_range interpreter = {.start = 0x1000, .end = 0x2000};
	CLEANUP(runtime_code_deinit) struct runtime_code code = {0};
	struct hotspot_layout all = layout;
	struct scope_table table;
	uint64_t address;
	bool same;
	int err;

	if (hostile->size_bytes < sizeof(address))
		return;
	memcpy(&address, hostile->data, sizeof(address));
	all.code = *code_layout;
	all.code.heaps = hostile->size_bytes + 8;
	all.code.stubs = hostile->data[0] & 1 ? hostile->size_bytes + 16 : 0;
	all.has_zero_free_numbers = code_layout == &offsets;
	err = hotspot_code_at(&memory, &all, &interpreter, address, &code);
	CHECK(!err || err == -EBADMSG || err == -EFAULT || err == -ENOENT || err == -EAGAIN);
	CHECK(hostile->reads <= 2 * CODE_READS_MAX);
	if (err)
		return;
	CHECK(address >= code.start && address - code.start < code.size_bytes && *code.name);
	check_utf8(code.name, RUNTIME_CODE_NAME_MAX);
	check_utf8(code.source, RUNTIME_CODE_NAME_MAX);
	CHECK(!code.scopes || (code.scope_bytes <= RUNTIME_CODE_SCOPES_MAX &&
			       !scope_table_decode(code.scopes, code.scope_bytes, &table)));
	if (!runtime_identity_holds(&code.identity, &memory, &same) && code.scopes)
		seed_taken();
}

static void read_tables(struct hostile *hostile, const struct process_memory *memory)
{
	struct runtime_process process = {.bias = hostile->data[0]};
	struct runtime_facts facts;
	struct runtime_recipe recipe;
	struct runtime_layout ret_layout;
	struct engine_version version;

	for (size_t i = 0; i < RUNTIME_FACTS_WORDS; i++)
		facts.words[i] = 8 * i;
	if (!hotspot_reader.recipe(&facts, &process, memory, &recipe, &ret_layout, &version))
		CHECK(recipe.native.range_count == 1);
	CHECK(hostile->reads <= TABLE_READS_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct hostile hostile = {.data = data + 1, .size_bytes = size_bytes - 1};
	const struct process_memory memory = {.read = read_hostile, .context = &hostile};
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
	int kind;

	if (size_bytes < 2)
		return 0;
	kind = data[0] % KINDS;
	if (kind == METHOD)
		read_method(&hostile, &memory);
	else if (kind == TABLES)
		read_tables(&hostile, &memory);
	else if (kind >= CODE)
		read_code(&hostile, kind == CODE ? &addresses : &offsets);
	else
		CHECK(!hotspot_lines_decode(data + 1, size_bytes - 1, kind == LINES_ZERO_FREE,
					    &function));
	check_lines(&function);
	if (function.lines.size > 1)
		seed_taken();
	return 0;
}
