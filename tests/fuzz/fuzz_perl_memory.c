/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of a hostile Perl: its recipe with the self-check, and functions. Byte 0: whether it
 * has threads. Byte 1: whether all other addresses lead into this memory, too. Two words are the
 * addresses of a function and of the name of a file; the rest is memory from BASE on, which begins
 * with the key, the words of the thread, PL_curcop and PL_curstackinfo.
 */
#include <errno.h>
#include <string.h>

#include "base/utf8.h"
#include "runtimes/perl/perl_file.h"
#include "runtimes/perl/perl_function.h"
#include "runtimes/perl/perl_reader.h"
#include "runtimes/runtime_frames.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/seeds.h"

SEEDS(4);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

#define BASE	    0x10000
#define HEAD_BYTES  18
#define KEY_AT	    16
#define VALUE_AT    32
#define COP_AT	    48
#define STACK_AT    64
#define MEMBER	    224 /* of the interpreter: its newest stack */
#define FRAMES_MAX  16
#define CHECK_TRIES 4
/* Stacks, frames, and what is read of each of 1024. */
#define RECIPE_READS_MAX (CHECK_TRIES * (1024 + 2048 * 80 + PERL_FUNCTION_READS_MAX))
#define RECIPE_BYTES_MAX (CHECK_TRIES * (2048u * 1024 + PERL_FUNCTION_BYTES_MAX))

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
	err = perl_reader.function(memory, recipe, layout, object, owner, &function);
	CHECK(hostile->reads <= PERL_FUNCTION_READS_MAX);
	CHECK(hostile->read_bytes <= PERL_FUNCTION_BYTES_MAX);
	if (err) {
		CHECK(err == -EBADMSG || err == -EFAULT);
		return false;
	}
	/* The names of a package and of a function. */
	check_utf8(function.name, 2 * RUNTIME_NAME_MAX + 2);
	check_utf8(function.file, RUNTIME_FILE_MAX);
	CHECK(!function.code && !function.lines.size && !(function.check & 1));
	runtime_function_deinit(&function);
	return true;
}

static void check_frames(const struct process_memory *memory, const struct runtime_recipe *recipe,
			 const struct runtime_layout *layout, uint64_t thread_pointer)
{
	const struct runtime_thread thread = {.thread_pointer = thread_pointer};
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
	const uint64_t thread_pointer = BASE + VALUE_AT - PERL_KEYS_AT;
	struct hostile hostile = {0};
	struct process_memory memory = {.read = read_hostile, .context = &hostile};
	struct runtime_process process = {.bias = BASE, .thread_pointer = thread_pointer};
	struct perl_file file = {.version = {5, 36, 0},
				 .key = KEY_AT,
				 .cop_at = COP_AT,
				 .stack_at = STACK_AT,
				 .stack = MEMBER,
				 .loop_count = 1};
	struct runtime_recipe recipe = {0};
	struct runtime_layout layout = {0};
	struct runtime_facts facts = {0};
	struct engine_version version;
	uint64_t objects[2];
	int err;

	if (size_bytes < HEAD_BYTES)
		return 0;
	file.has_threads = data[0] & 1;
	hostile.everywhere = data[1] & 1;
	memcpy(objects, data + 2, sizeof(objects));
	hostile.bytes = data + HEAD_BYTES;
	hostile.size_bytes = size_bytes - HEAD_BYTES;
	memcpy(&facts, &file, sizeof(file));
	err = perl_reader.recipe(&facts, &process, &memory, &recipe, &layout, &version);
	CHECK(!err || err == -EBADMSG || err == -ENODATA || err == -ENOENT);
	CHECK(hostile.reads <= RECIPE_READS_MAX);
	CHECK(hostile.read_bytes <= RECIPE_BYTES_MAX);
	/* A recipe that is expected has loops. */
	if ((err && err != -ENODATA) || !recipe.loop_count)
		return 0;
	if (check_function(&memory, &recipe, &layout, objects[0], 0) &&
	    check_function(&memory, &recipe, &layout, objects[1], RUNTIME_FILE_OWNER) && !err)
		seed_taken();
	check_frames(&memory, &recipe, &layout, thread_pointer);
	return 0;
}
