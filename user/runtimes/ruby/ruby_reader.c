/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/ruby/ruby_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "runtimes/ruby/ruby_file.h"
#include "runtimes/ruby/ruby_function.h"
#include "runtimes/ruby/ruby_self_check.h"

#define VERSION_BYTES 16

/* A thread has a vector of blocks by number of module: glibc's dtv_t. */
#define VECTOR_AT    8
#define VECTOR_ENTRY 16
#define MODULES_MAX  4096

struct words {
	uint64_t version;
	uint64_t symbols, class_path;
};

_Static_assert(sizeof(struct words) <= sizeof(struct runtime_layout), "the layout has no room");
_Static_assert(sizeof(struct ruby_file) <= sizeof(struct runtime_facts), "facts have no room");

static int read_version(const struct process_memory *memory, uint64_t address,
			struct engine_version *ret)
{
	char text[VERSION_BYTES + 1] = "";
	unsigned int major, minor, patch;
	int err = process_memory_read(memory, address, text, 4);

	/* It may be the last text of a page. */
	for (size_t i = 4; !err && i < VERSION_BYTES && text[i - 1]; i++)
		err = process_memory_read(memory, address + i, text + i, 1);
	if (err)
		return err;
	if (sscanf(text, "%3u.%3u.%3u", &major, &minor, &patch) != 3 ||
	    major > ENGINE_VERSION_PART_MAX || minor > ENGINE_VERSION_PART_MAX ||
	    patch > ENGINE_VERSION_PART_MAX)
		return -ENOTSUP;
	*ret = (struct engine_version){.part = {major, minor, patch}, .parts = 3};
	return 0;
}

/* The way to the execution context. */
static int set_context(const struct ruby_file *ruby, uint64_t bias,
		       const struct process_memory *memory, struct runtime_recipe *ret)
{
	uint64_t words[2] = {ruby->context, 0};
	int err = 0;

	ret->base_kind = RUNTIME_BASE_THREAD_POINTER;
	if (ruby->context_kind != RUBY_CONTEXT_AT_OFFSET)
		err = process_memory_read(memory, ruby->context + bias, words,
					  ruby->context_kind == RUBY_CONTEXT_BY_MODULE ? 16 : 8);
	if (err)
		return err;
	if (!words[0]) /* the loader has not written it yet */
		return -ENODATA;
	if (ruby->context_kind != RUBY_CONTEXT_BY_MODULE) {
		if ((int64_t)words[0] != (int32_t)words[0])
			return -EBADMSG;
		ret->step[ret->step_count++] = (int32_t)words[0];
		return 0;
	}
	if (words[0] > MODULES_MAX || words[1] > INT32_MAX)
		return -EBADMSG;
	ret->step[ret->step_count++] = VECTOR_AT;
	ret->step[ret->step_count++] = (int32_t)words[0] * VECTOR_ENTRY;
	ret->step[ret->step_count++] = (int32_t)words[1];
	return 0;
}

static void set_frames(const struct ruby_layout *layout, struct runtime_recipe *ret)
{
	int16_t flags_at = RUNTIME_MORE_AT + RUBY_ENV_FLAGS - RUBY_ENV_METHOD;

	ret->step[ret->step_count++] = RUBY_CONTEXT_FRAME;
	ret->function_at = RUBY_FRAME_ISEQ;
	ret->via_at = RUBY_ISEQ_BODY;
	ret->position_at = RUBY_FRAME_PC;
	ret->position_mask = UINT64_MAX;
	ret->needs_position = RUBY_FRAME_KIND_IFUNC;
	ret->previous_at = RUNTIME_NO_OFFSET;
	ret->stride = layout->frame_bytes;
	ret->more_at = RUBY_FRAME_EP;
	ret->more_offset = RUBY_ENV_METHOD;
	ret->more_bytes = RUBY_ENV_BYTES;
	ret->entry_at = flags_at;
	ret->entry_mask = ret->entry_value = RUBY_FRAME_FINISH;
	ret->entry_is_early = true;
	ret->last_mask = RUBY_FRAME_KIND_MASK | RUBY_FRAME_FINISH;
	ret->last_value = RUBY_FRAME_KIND_DUMMY | RUBY_FRAME_FINISH;
	ret->other_at = RUNTIME_MORE_AT;
	ret->other_mask = RUBY_FRAME_KIND_MASK;
	ret->other_value = RUBY_FRAME_KIND_CFUNC;
	ret->native_mask = RUBY_IMEMO_MASK;
	ret->native_value = RUBY_IMEMO_METHOD;
	ret->check = ruby_function_check(layout);
	ret->owner = ruby_function_owner();
}

static void set_code(const struct ruby_file *ruby, uint64_t bias, struct runtime_recipe *ret)
{
	for (uint32_t i = 0; i < ruby->loop_count; i++)
		ret->loops[ret->loop_count++] = (struct runtime_range){
			.start = ruby->loops[i].start + bias, .end = ruby->loops[i].end + bias};
	for (uint32_t i = 0; i < RUNTIME_SWITCHES_MAX; i++) {
		if (ruby->switches[i].start < ruby->switches[i].end)
			ret->switches[ret->switch_count++] = (struct runtime_range){
				.start = ruby->switches[i].start + bias,
				.end = ruby->switches[i].end + bias,
			};
	}
}

/*
 * YJIT of 3.1 sets the newest frame before it fills that. The last words of a frame that matter are
 * written by mov %rax,16(%r13), the code of a method of Ruby, and mov %rax,32(%rcx), the
 * environment of one of C; the newest frame is set by mov %r13,16(%r12), and sub $64,16(%r12).
 */
static void set_compiled(const struct ruby_layout *layout, struct runtime_recipe *ret)
{
	ret->compiled.exists = true;
	if (layout->fills_newest)
		ret->compiled = (struct runtime_compiled){
			.exists = true,
			.fill_count = 2,
			.fill = {0x10458949, 0x20418948},
			.link = {0x246c894d, 0x246c8349},
		};
}

static int read_facts(const struct elf_file *elf, struct runtime_facts *ret)
{
	struct ruby_file ruby;
	int err = ruby_file_read(elf, &ruby);

	if (err)
		return err;
	*ret = (struct runtime_facts){0};
	memcpy(ret, &ruby, sizeof(ruby));
	return 0;
}

static int check(const struct runtime_process *process, struct ruby_memory *ruby,
		 uint64_t array_class, const struct runtime_recipe *recipe)
{
	int err = ruby_check_objects(ruby, array_class);

	if (err)
		return err;
	/* Without a thread, nothing shows where its frames are. */
	return process->thread_pointer ? ruby_check_frames(ruby, recipe, process->thread_pointer)
				       : -ENODATA;
}

static int make_recipe(const struct runtime_facts *facts, const struct runtime_process *process,
		       const struct process_memory *memory, struct runtime_recipe *ret,
		       struct runtime_layout *ret_layout, struct engine_version *ret_version)
{
	struct runtime_recipe recipe = {0};
	struct ruby_memory objects = {.memory = memory};
	struct words words = {0};
	struct ruby_file ruby;
	int err;

	*ret_version = (struct engine_version){0};
	memcpy(&ruby, facts, sizeof(ruby));
	if (ruby.loop_count > RUNTIME_LOOPS_MAX)
		return -EINVAL;
	err = read_version(memory, ruby.version + process->bias, ret_version);
	if (err)
		return err == -EFAULT ? -EBADMSG : err;
	objects.layout = ruby_layout_of(ret_version);
	objects.symbols = ruby.symbols + process->bias;
	if (!objects.layout)
		return -ENOTSUP;
	err = set_context(&ruby, process->bias, memory, &recipe);
	if (err)
		return err == -EFAULT ? -EBADMSG : err;
	set_frames(objects.layout, &recipe);
	set_code(&ruby, process->bias, &recipe);
	set_compiled(objects.layout, &recipe);
	err = check(process, &objects, ruby.array_class + process->bias, &recipe);
	if (err && err != -ENODATA)
		return err == -EFAULT ? -EBADMSG : err;
	words = (struct words){objects.layout->version, objects.symbols, objects.class_path};
	memcpy(ret_layout, &words, sizeof(words));
	*ret = recipe;
	return err;
}

static void move_recipe(struct runtime_recipe *recipe, struct runtime_layout *layout, uint64_t by)
{
	struct words words;

	memcpy(&words, layout, sizeof(words));
	words.symbols += by;
	memcpy(layout, &words, sizeof(words));
	for (uint32_t i = 0; i < recipe->switch_count && i < RUNTIME_SWITCHES_MAX; i++) {
		recipe->switches[i].start += by;
		recipe->switches[i].end += by;
	}
	for (uint32_t i = 0; i < recipe->loop_count && i < RUNTIME_LOOPS_MAX; i++) {
		recipe->loops[i].start += by;
		recipe->loops[i].end += by;
	}
}

static int read_function(const struct process_memory *memory, const struct runtime_recipe *recipe,
			 const struct runtime_layout *layout, uint64_t object, uint64_t owner,
			 struct runtime_function *ret)
{
	struct ruby_memory ruby = {.memory = memory};
	struct engine_version version = {.parts = 2};
	struct words words;

	memcpy(&words, layout, sizeof(words));
	version.part[0] = words.version / 100 % 100;
	version.part[1] = words.version % 100;
	ruby.layout = ruby_layout_of(&version);
	ruby.symbols = words.symbols;
	ruby.class_path = words.class_path;
	return ruby.layout ? ruby_function_read(&ruby, &recipe->owner, object, owner, ret)
			   : -EINVAL;
}

static bool knows(const struct engine_version *version)
{
	return ruby_layout_of(version);
}

const struct runtime_reader ruby_reader = {
	.engine = &engine_ruby,
	.symbol = "rb_thread_current",
	.knows = knows,
	.facts = read_facts,
	.recipe = make_recipe,
	.move = move_recipe,
	.function = read_function,
};
