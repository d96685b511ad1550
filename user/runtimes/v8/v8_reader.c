/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/v8/v8_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "runtimes/v8/v8_file.h"
#include "runtimes/v8/v8_function.h"
#include "runtimes/v8/v8_layout.h"

#define TAG 1

/* A small integer has its value in the upper half of a word. */
#define VALUE_AT   4
#define VALUE_MASK UINT32_MAX

/* Of functions: from their entry until they make their frames; and behind their frames, at most. */
#define PROLOGUE_BYTES 64
#define EPILOGUE_BYTES 17

#define CLOSURE_REGISTER 5	 /* rdi, by its number of DWARF */
#define CLOSURE_MIN	 0x10000 /* no object is below it */

enum { INTERPRETED, COMPILED, LAYOUTS };

#define RELEASE_BYTES 31 /* of a version */

/* Versions of Node.js with V8_MAJOR_MIN to V8_MAJOR_MAX. */
#define NODE_MIN 18
#define NODE_MAX 24

_Static_assert(sizeof(struct v8_file) <= sizeof(struct runtime_facts), "facts have no room");
_Static_assert(sizeof(struct v8_file) <= sizeof(struct runtime_layout), "no room");

static int read_facts(const struct elf_file *elf, struct runtime_facts *ret)
{
	struct v8_file file;
	int err = v8_file_read(elf, &file);

	if (err)
		return err;
	*ret = (struct runtime_facts){0};
	memcpy(ret, &file, sizeof(file));
	return 0;
}

/* Read the version of Node.js; none: it has not started, or another program has V8. */
static struct engine_version read_version(const struct process_memory *memory, uint64_t release)
{
	struct engine_version version = {.parts = 3};
	char text[RELEASE_BYTES + 1] = "";
	uint64_t string[2]; /* address, bytes */

	if (process_memory_read(memory, release, string, sizeof(string)) || !string[1] ||
	    string[1] > RELEASE_BYTES || process_memory_read(memory, string[0], text, string[1]) ||
	    sscanf(text, "%4hu.%4hu.%4hu", &version.part[0], &version.part[1], &version.part[2]) !=
		    3)
		return (struct engine_version){0};
	for (int i = 0; i < 3; i++) {
		if (version.part[i] > ENGINE_VERSION_PART_MAX)
			return (struct engine_version){0};
	}
	return version;
}

/*
 * The frame of a function holds its closure, and in front of it the context; frames of other kinds
 * have a small integer there. Functions are called with the closure in rdi.
 */
static struct runtime_native_layout interpreted(const struct v8_file *file)
{
	return (struct runtime_native_layout){
		.function_at = file->frame_function,
		.position_at = (int16_t)(file->frame_position + VALUE_AT),
		.guard_at = file->frame_context,
		.guard_mask = TAG,
		.guard_value = TAG,
		.function_min = CLOSURE_MIN,
		.step = {file->function_shared},
		.step_count = 1,
		.function_clear = TAG,
		.flags = RUNTIME_NATIVE_ENTRY_REGISTER,
		.entry_register = CLOSURE_REGISTER,
		.prologue_bytes = PROLOGUE_BYTES,
	};
}

/*
 * Code of Sparkplug, Maglev and TurboFan. Its frames have no offset of bytecode. That of Sparkplug
 * has a builtin make its frame: mov $bytecode,%r12; call. The call is direct, or of a word of the
 * table at r13.
 */
static struct runtime_native_layout compiled(const struct v8_file *file)
{
	static const struct runtime_code_pattern calls[] = {
		{.value = {0xbc49, 0xe80000}, .mask = {0xffff, 0xffffff}, .size_bytes = 15},
		{.value = {0xbc49, 0x95ff410000}, .mask = {0xffff, 0xffffffffff}, .size_bytes = 17},
	};
	struct runtime_native_layout layout = interpreted(file);

	layout.position_at = RUNTIME_NO_OFFSET;
	layout.flags |= RUNTIME_NATIVE_FRAME_POINTERS | RUNTIME_NATIVE_COMPILED;
	layout.epilogue_bytes = EPILOGUE_BYTES;
	memcpy(layout.enter_call, calls, sizeof(calls));
	return layout;
}

static void add_range(struct runtime_recipe *recipe, uint64_t start, uint64_t end, uint32_t layout)
{
	struct runtime_native_frames *native = &recipe->native;

	if (native->range_count < RUNTIME_NATIVE_RANGES_MAX)
		native->range[native->range_count++] =
			(struct runtime_native_range){.start = start, .end = end, .layout = layout};
}

static void add_handlers(struct runtime_recipe *recipe, const struct v8_file *file, uint64_t start)
{
	if (file->handlers.size_bytes && recipe->loop_count < RUNTIME_LOOPS_MAX)
		recipe->loops[recipe->loop_count++] = (struct runtime_range){
			.start = start, .end = start + file->handlers.size_bytes};
}

static void add_file(struct runtime_recipe *recipe, const struct v8_file *file, uint64_t bias)
{
	add_handlers(recipe, file, file->handlers.address + bias);
	for (uint32_t i = 0; i < file->trampoline_count; i++) {
		uint64_t start = file->trampolines[i].address + bias;

		add_range(recipe, start, start + file->trampolines[i].size_bytes, INTERPRETED);
	}
}

/* Returns where a copy has code of the file, or 0. */
static uint64_t start_in_copy(const struct runtime_code_range *copy, const struct v8_code *code)
{
	uint64_t at = code->file_offset - copy->file_offset;

	return code->file_offset >= copy->file_offset && at < copy->end - copy->start
		       ? copy->start + at
		       : 0;
}

/* V8 maps its builtins once more, near to the code that it compiles. */
static void add_copy(struct runtime_recipe *recipe, const struct v8_file *file,
		     const struct runtime_code_range *copy)
{
	uint64_t start = start_in_copy(copy, &file->handlers);

	if (start)
		add_handlers(recipe, file, start);
	for (uint32_t i = 0; i < file->trampoline_count; i++) {
		start = start_in_copy(copy, &file->trampolines[i]);
		if (start)
			add_range(recipe, start, start + file->trampolines[i].size_bytes,
				  INTERPRETED);
	}
}

static int make_recipe(const struct runtime_facts *facts, const struct runtime_process *process,
		       const struct process_memory *memory, struct runtime_recipe *ret,
		       struct runtime_layout *ret_layout, struct engine_version *ret_version)
{
	struct runtime_recipe recipe = {.position_mask = VALUE_MASK};
	struct v8_file file;

	memcpy(&file, facts, sizeof(file));
	*ret_version = file.release ? read_version(memory, file.release + process->bias)
				    : (struct engine_version){0};
	if (!v8_layout_is_known(&file))
		return -ENOTSUP;
	recipe.native.layout_count = LAYOUTS;
	recipe.native.layout[INTERPRETED] = interpreted(&file);
	recipe.native.layout[COMPILED] = compiled(&file);
	add_file(&recipe, &file, process->bias);
	for (size_t i = 0; i < process->code_range_count; i++) {
		const struct runtime_code_range *range = &process->code_ranges[i];

		if (range->file_offset != RUNTIME_CODE_ANON)
			add_copy(&recipe, &file, range);
		else
			add_range(&recipe, range->start, range->end, COMPILED);
	}
	recipe.check = v8_function_check(&file);
	*ret = recipe;
	*ret_layout = (struct runtime_layout){0};
	memcpy(ret_layout, &file, sizeof(file));
	return 0;
}

static int read_function(const struct process_memory *memory, const struct runtime_recipe *recipe,
			 const struct runtime_layout *layout, uint64_t object, uint64_t owner,
			 struct runtime_function *ret)
{
	struct v8_heap heap = {.memory = memory};
	struct v8_file file;

	memcpy(&file, layout, sizeof(file));
	heap.file = &file;
	return v8_function_read(&heap, &recipe->check, object, ret);
}

static bool knows(const struct engine_version *version)
{
	return version->parts && version->part[0] >= NODE_MIN && version->part[0] <= NODE_MAX;
}

const struct runtime_reader v8_reader = {
	.engine = &engine_v8,
	.symbol = "_ZN2v88internal7Version6major_E",
	.has_copies = true,
	.needs_code_ranges = true,
	.knows = knows,
	.facts = read_facts,
	.recipe = make_recipe,
	.function = read_function,
};
