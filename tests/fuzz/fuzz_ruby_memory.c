/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of a hostile Ruby: its recipe with the self-check, and functions with owners. Byte 0:
 * the version, and the way to the execution context. Byte 1: whether all other addresses lead into
 * this memory, too. Two words are the addresses of a function and of its owner; the rest is memory
 * from BASE on, which begins with the version, rb_symbols_t, rb_cArray and the words of
 * enum ruby_context.
 */
#include <errno.h>
#include <string.h>

#include "base/utf8.h"
#include "runtimes/ruby/ruby_file.h"
#include "runtimes/ruby/ruby_function.h"
#include "runtimes/ruby/ruby_reader.h"
#include "runtimes/runtime_frames.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/seeds.h"

SEEDS(8);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

#define BASE	    0x10000
#define HEAD_BYTES  18
#define SYMBOLS_AT  16
#define CLASS_AT    48
#define CONTEXT_AT  56
#define THREAD_AT   72
#define FRAMES_MAX  16
#define CHECK_TRIES 4
/* Frames, and what is read of each of 1024. */
#define RECIPE_READS_MAX (CHECK_TRIES * (1024 * 80 + RUBY_FUNCTION_READS_MAX))
#define RECIPE_BYTES_MAX (CHECK_TRIES * (1024u * 1024 + RUBY_FUNCTION_BYTES_MAX))

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
	/* But for the upper half. */
	if (!hostile->everywhere || !hostile->size_bytes || address >> 63)
		return -EFAULT;
	for (size_t i = 0; i < size_bytes; i++)
		((uint8_t *)buf)[i] = hostile->bytes[(at + i) % hostile->size_bytes];
	return 0;
}

static void check_utf8(const char *text, size_t bytes_max)
{
	uint32_t bytes;

	CHECK(strlen(text) <= bytes_max);
	for (const char *at = text; *at; at += bytes)
		CHECK(utf8_next(at, &bytes) != UTF8_INVALID);
}

/* Returns true if the function can be read. */
static bool check_function(const struct process_memory *memory, const struct runtime_recipe *recipe,
			   const struct runtime_layout *layout, uint64_t object, uint64_t owner)
{
	struct hostile *hostile = memory->context;
	struct runtime_function function;
	int err;

	hostile->reads = hostile->read_bytes = 0;
	err = ruby_reader.function(memory, recipe, layout, object, owner, &function);
	CHECK(hostile->reads <= RUBY_FUNCTION_READS_MAX);
	CHECK(hostile->read_bytes <= RUBY_FUNCTION_BYTES_MAX);
	if (err) {
		CHECK(err == -EBADMSG || err == -EFAULT);
		return false;
	}
	/* The names of a class and of a method. */
	check_utf8(function.name, 2 * RUNTIME_NAME_MAX + 1);
	check_utf8(function.file, RUNTIME_FILE_MAX);
	CHECK(function.code && !(function.check & 1));
	CHECK(function.lines.size <= RUNTIME_LINES_MAX);
	for (size_t i = 1; i < function.lines.size; i++)
		CHECK(function.lines.data[i].position > function.lines.data[i - 1].position);
	runtime_function_deinit(&function);
	return true;
}

static void check_frames(const struct process_memory *memory, const struct runtime_recipe *recipe,
			 const struct runtime_layout *layout)
{
	const struct runtime_thread thread = {.thread_pointer = BASE + THREAD_AT};
	struct runtime_frame frames[FRAMES_MAX];
	size_t count;
	int err = runtime_frames_walk(memory, recipe, &thread, FRAMES_MAX, frames, &count);

	CHECK(!err || err == -EFAULT);
	CHECK(count <= FRAMES_MAX);
	for (size_t i = 0; i < count; i++) {
		if (frames[i].function)
			check_function(memory, recipe, layout, frames[i].function, frames[i].owner);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct hostile hostile = {0};
	struct process_memory memory = {.read = read_hostile, .context = &hostile};
	struct runtime_process process = {.bias = BASE, .thread_pointer = BASE + THREAD_AT};
	struct ruby_file file = {.symbols = SYMBOLS_AT, .array_class = CLASS_AT, .loop_count = 1};
	struct runtime_recipe recipe = {0};
	struct runtime_layout layout = {0};
	struct runtime_facts facts = {0};
	struct engine_version version;
	uint64_t objects[2];
	int err;

	if (size_bytes < HEAD_BYTES)
		return 0;
	file.context_kind = 1 + data[0] % 3;
	file.context = file.context_kind == RUBY_CONTEXT_AT_OFFSET ? (uint64_t)-8 : CONTEXT_AT;
	hostile.everywhere = data[1] & 1;
	memcpy(objects, data + 2, sizeof(objects));
	hostile.bytes = data + HEAD_BYTES;
	hostile.size_bytes = size_bytes - HEAD_BYTES;
	memcpy(&facts, &file, sizeof(file));
	err = ruby_reader.recipe(&facts, &process, &memory, &recipe, &layout, &version);
	CHECK(!err || err == -EBADMSG || err == -ENODATA || err == -ENOTSUP);
	CHECK(hostile.reads <= RECIPE_READS_MAX);
	CHECK(hostile.read_bytes <= RECIPE_BYTES_MAX);
	/* A recipe that is expected has loops. */
	if ((err && err != -ENODATA) || !recipe.loop_count)
		return 0;
	if (check_function(&memory, &recipe, &layout, objects[0], objects[1]) && !err)
		seed_taken();
	check_function(&memory, &recipe, &layout, objects[0], 0);
	check_frames(&memory, &recipe, &layout);
	return 0;
}
