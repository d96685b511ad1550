/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of a process that pretends to be CPython: its recipe, the frames of a thread, and the
 * function of each. Byte 0: the version. Byte 1: whether all other addresses lead into this memory,
 * too. The rest is memory from BASE on, which begins with _PyRuntime.
 */
#include <string.h>

#include "runtimes/cpython/code_object.h"
#include "runtimes/cpython/cpython.h"
#include "runtimes/runtime_frames.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/seeds.h"

SEEDS(12);

#define BASE	   0x10000
#define FRAMES_MAX 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

struct hostile {
	const uint8_t *bytes;
	size_t size_bytes;
	bool everywhere;
	uint64_t reads, read_bytes;
};

static int read_hostile(void *context, uint64_t address, void *buf, size_t size_bytes)
{
	struct hostile *hostile = context;
	uint64_t at = address - BASE;

	hostile->reads++;
	hostile->read_bytes += size_bytes;
	if (at < hostile->size_bytes && size_bytes <= hostile->size_bytes - at) {
		memcpy(buf, hostile->bytes + at, size_bytes);
		return 0;
	}
	if (!hostile->everywhere || !hostile->size_bytes)
		return -EFAULT;
	for (size_t i = 0; i < size_bytes; i++)
		((uint8_t *)buf)[i] = hostile->bytes[(at + i) % hostile->size_bytes];
	return 0;
}

static void check_function(const struct process_memory *memory, struct hostile *hostile,
			   const struct cpython_layout *layout, uint64_t object)
{
	struct runtime_function function;

	hostile->reads = hostile->read_bytes = 0;
	if (!cpython_code_read(memory, layout, 0, object, &function)) {
		CHECK(strlen(function.name) <= RUNTIME_NAME_MAX);
		CHECK(strlen(function.file) <= RUNTIME_FILE_MAX);
		CHECK(function.lines.size <= RUNTIME_LINES_MAX);
		CHECK(!(function.check & 1));
		seed_taken();
		for (size_t i = 1; i < function.lines.size; i++)
			CHECK(function.lines.data[i - 1].position <
			      function.lines.data[i].position);
		runtime_function_deinit(&function);
	}
	CHECK(hostile->reads <= 30);
	CHECK(hostile->read_bytes <=
	      4 * (RUNTIME_NAME_MAX + RUNTIME_FILE_MAX) + CPYTHON_LINES_BYTES_MAX + 1024);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct hostile hostile = {0};
	struct process_memory memory = {read_hostile, &hostile};
	struct cpython_file file = {
		.runtime = BASE,
		.version = {{3}, 2},
		.loops = {{0x1000, 0x2000}},
		.loop_count = 1,
		.unsettled = {0x1010, 0x1020},
	};
	struct runtime_thread thread = {.thread_pointer = BASE};
	struct runtime_frame frames[FRAMES_MAX];
	struct engine_version version;
	struct runtime_recipe recipe;
	struct runtime_layout layout;
	struct cpython_layout found;
	size_t count;

	if (size_bytes < 2)
		return 0;
	file.version.part[1] = 8 + data[0] % 8;
	hostile = (struct hostile){data + 2, size_bytes - 2, data[1] & 1};
	version = file.version;
	if (!cpython_layout_find(&memory, BASE, &version, &found))
		check_function(&memory, &hostile, &found, BASE + 32 * (data[1] >> 1));
	hostile.reads = hostile.read_bytes = 0;
	if (!cpython_recipe(&file, 0, &memory, &recipe, &layout, &version)) {
		CHECK(recipe.step_count && recipe.step_count <= RUNTIME_STEPS_MAX);
		CHECK(recipe.check.size_bytes <= RUNTIME_CHECK_BYTES_MAX);
		seed_taken();
		runtime_frames_walk(&memory, &recipe, &thread, FRAMES_MAX, frames, &count);
		CHECK(count <= FRAMES_MAX);
	}
	CHECK(hostile.reads <= 50000);
	return 0;
}
