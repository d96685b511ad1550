/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of a hostile Java virtual machine: its tables, methods and lines. The first byte
 * selects what is read; the rest repeats in the whole address space but for its upper half, so that
 * nearly all pointers lead somewhere.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/scope.h"
#include "base/utf8.h"
#include "runtimes/hotspot/hotspot_lines.h"
#include "runtimes/hotspot/hotspot_method.h"
#include "runtimes/hotspot/hotspot_reader.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/seeds.h"

SEEDS(3);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

#define TABLE_READS_MAX (3 * 4096 * 16) /* entries of three tables, and their names */

enum { LINES, LINES_ZERO_FREE, METHOD, TABLES, KINDS };

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
	else
		CHECK(!hotspot_lines_decode(data + 1, size_bytes - 1, kind == LINES_ZERO_FREE,
					    &function));
	check_lines(&function);
	if (function.lines.size > 1)
		seed_taken();
	return 0;
}
