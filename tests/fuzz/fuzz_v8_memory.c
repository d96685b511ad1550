/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of a hostile V8: its functions, strings, scripts and tables of positions. The first
 * byte selects the version; the rest repeats in the whole address space but for its upper half, so
 * that nearly all pointers lead somewhere.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/scope.h"
#include "base/utf8.h"
#include "runtimes/v8/v8_function.h"
#include "runtimes/v8/v8_layout.h"
#include "runtimes/v8/v8_positions.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/seeds.h"

SEEDS(3);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

enum { V8_11, V8_13, POSITIONS, KINDS };

struct hostile {
	const uint8_t *data;
	size_t size_bytes;
	uint64_t reads, read_bytes;
};

/* As Node.js 20 and 24 have it. */
static const struct v8_file files[] = {
	[V8_11] =
		{
			.major = 11,
			.minor = 3,
			.frame_function = -16,
			.frame_context = -8,
			.frame_position = -40,
			.function_shared = 24,
			.shared_name = 16,
			.shared_script = 32,
			.shared_flags = 48,
			.shared_parameters = 42,
			.script_name = 16,
			.script_source = 8,
			.script_ends = 56,
			.code_data = 54,
			.map_type = 12,
			.text_length = 12,
			.text_chars = 16,
			.text_wide_chars = 16,
			.cons_first = 16,
			.cons_second = 24,
			.sliced_parent = 16,
			.sliced_offset = 24,
			.thin_actual = 16,
			.array_length = 8,
			.array_data = 16,
			.scope_variables = 3,
			.type_shared = 262,
			.type_script = 167,
			.type_code = 191,
			.trampoline_count = 1,
		},
	[V8_13] =
		{
			.major = 13,
			.minor = 6,
			.frame_function = -16,
			.frame_context = -8,
			.frame_position = -40,
			.function_shared = 32,
			.shared_name = 24,
			.shared_script = 40,
			.shared_flags = 56,
			.shared_parameters = 50,
			.script_name = 16,
			.script_source = 8,
			.script_ends = 56,
			.code_data = 64,
			.map_type = 12,
			.text_length = 12,
			.text_chars = 16,
			.text_wide_chars = 16,
			.cons_first = 16,
			.cons_second = 24,
			.sliced_parent = 16,
			.sliced_offset = 24,
			.thin_actual = 16,
			.array_length = 8,
			.array_data = 16,
			.scope_variables = 5,
			.type_shared = 282,
			.type_script = 167,
			.type_code = 186,
			.trampoline_count = 1,
		},
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

static void read_function(struct hostile *hostile, const struct v8_file *file)
{
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
	const struct process_memory memory = {.read = read_hostile, .context = hostile};
	const struct v8_heap heap = {.memory = &memory, .file = file};
	const struct runtime_check check = v8_function_check(file);
	int err;

	CHECK(v8_layout_is_known(file));
	err = v8_function_read(&heap, &check, hostile->size_bytes, &function);
	CHECK(!err || err == -EBADMSG || err == -EFAULT);
	CHECK(hostile->reads <= V8_FUNCTION_READS_MAX);
	CHECK(hostile->read_bytes <= V8_FUNCTION_BYTES_MAX);
	if (err)
		return;
	check_utf8(function.name, RUNTIME_NAME_MAX);
	check_utf8(function.file, RUNTIME_FILE_MAX);
	CHECK(*function.name && !(function.check & 1));
	CHECK(function.lines.size && function.lines.size <= RUNTIME_LINES_MAX);
	for (size_t i = 1; i < function.lines.size; i++)
		CHECK(function.lines.data[i].position > function.lines.data[i - 1].position);
	seed_taken();
}

static void read_positions(const uint8_t *table, size_t size_bytes)
{
	struct v8_positions positions = v8_positions_of(table, size_bytes);
	int32_t offset, position, last = -1;
	size_t count = 0;

	while (v8_positions_next(&positions, &offset, &position) > 0) {
		CHECK(offset >= last && position >= -1);
		last = offset;
		count++;
	}
	CHECK(count <= size_bytes / 2);
	if (count > 1)
		seed_taken();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct hostile hostile = {.data = data + 1, .size_bytes = size_bytes - 1};

	if (size_bytes < 2)
		return 0;
	if (*data % KINDS == POSITIONS)
		read_positions(hostile.data, hostile.size_bytes);
	else
		read_function(&hostile, &files[*data % KINDS]);
	return 0;
}
