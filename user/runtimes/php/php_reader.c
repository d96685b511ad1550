/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/php/php_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "runtimes/php/php_accessor.h"
#include "runtimes/php/php_file.h"
#include "runtimes/php/php_function.h"
#include "runtimes/php/php_object.h"
#include "runtimes/php/php_self_check.h"
#include "runtimes/php/php_version.h"

#define VM_KIND_HYBRID 4 /* ZEND_VM_KIND_HYBRID: execute_ex() keeps both in registers */

/* The numbers that DWARF gives to the registers of JIT code, and of the hybrid VM. */
#define FRAME_REGISTER	  14
#define POSITION_REGISTER 15

_Static_assert(sizeof(struct php_file) <= sizeof(struct runtime_facts), "facts have no room");

/* Where zend_executor_globals is: a variable, or at an offset of a block of each thread. */
static int set_newest(const struct php_file *php, const struct runtime_process *process,
		      const struct process_memory *memory, const struct php_layout *layout,
		      struct runtime_recipe *ret, uint64_t *ret_globals)
{
	uint64_t cache = 0, tls_offset, offset;
	int err;

	if (php->executor_globals) {
		*ret_globals = php->executor_globals + process->bias;
		ret->base = (int64_t)*ret_globals;
		ret->step[0] = layout->current_frame;
		ret->step_count = 1;
		return 0;
	}
	if (!php->cache_tls_offset || !php->executor_globals_offset)
		return -ENOENT;
	err = php_accessor_read(memory, php->cache_tls_offset + process->bias, &tls_offset);
	err = err
		      ?: process_memory_word(memory, php->executor_globals_offset + process->bias,
					     &offset);
	if (err)
		return err;
	/* 0: the block is found by a call only; or, of the offset, PHP has not started. */
	if (!tls_offset || (int64_t)tls_offset != (int32_t)tls_offset || offset > INT32_MAX / 2)
		return -ENOENT;
	if (!offset)
		return -ENODATA;
	ret->base_kind = RUNTIME_BASE_THREAD_POINTER;
	ret->step[0] = (int32_t)tls_offset;
	ret->step[1] = (int32_t)offset + layout->current_frame;
	ret->step_count = 2;
	if (process->thread_pointer)
		err = process_memory_word(memory, process->thread_pointer + tls_offset, &cache);
	*ret_globals = cache ? cache + offset : 0;
	return err;
}

static void add_range(struct runtime_recipe *recipe, uint64_t start, uint64_t end, uint32_t flags)
{
	if (recipe->loop_count < RUNTIME_LOOPS_MAX && start < end)
		recipe->loops[recipe->loop_count++] =
			(struct runtime_range){.start = start, .end = end, .flags = flags};
}

/*
 * JIT code is in the executable part of the memory that PHP's processes share. It runs in the frame
 * of execute_ex(), or is called by it. It writes positions only before calls.
 */
static void set_loops(const struct php_file *php, const struct runtime_process *process,
		      const struct process_memory *memory, struct runtime_recipe *ret)
{
	uint64_t kind = 0;
	bool is_hybrid = php->vm_kind &&
			 !php_accessor_read(memory, php->vm_kind + process->bias, &kind) &&
			 kind == VM_KIND_HYBRID;

	for (uint32_t i = 0; i < php->loop_count; i++)
		add_range(ret, php->loops[i].start + process->bias,
			  php->loops[i].end + process->bias,
			  is_hybrid ? RUNTIME_LOOP_HAS_POSITION : 0);
	for (size_t i = 0; i < process->shared_code_count; i++)
		add_range(ret, process->shared_code[i].start, process->shared_code[i].end,
			  RUNTIME_LOOP_NO_POSITION | RUNTIME_LOOP_COMPILED |
				  (is_hybrid ? RUNTIME_LOOP_HAS_FRAME : 0));
	ret->frame_register = FRAME_REGISTER;
	ret->position_register = POSITION_REGISTER;
}

static void set_switches(const struct php_file *php, const struct runtime_process *process,
			 struct runtime_recipe *ret)
{
	for (uint32_t i = 0; i < RUNTIME_SWITCHES_MAX; i++) {
		if (php->switches[i].start < php->switches[i].end)
			ret->switches[ret->switch_count++] = (struct runtime_range){
				.start = php->switches[i].start + process->bias,
				.end = php->switches[i].end + process->bias,
			};
	}
}

/* Without the class, generators that delegate to others are left out. */
static void set_stand_in(const struct php_file *php, const struct runtime_process *process,
			 const struct php_layout *layout, struct runtime_recipe *ret)
{
	ret->stand_in = (struct runtime_stand_in){
		.class_pointer = php->generator_class ? php->generator_class + process->bias : 0,
		.object_at = PHP_FRAME_THIS,
		.class_at = PHP_OBJECT_CLASS,
		.frame_at = layout->generator_frame,
		.parent_at = layout->generator_parent,
	};
}

static int read_facts(const struct elf_file *elf, struct runtime_facts *ret)
{
	struct php_file php;
	int err = php_file_read(elf, &php);

	if (err)
		return err;
	*ret = (struct runtime_facts){0};
	memcpy(ret, &php, sizeof(php));
	return 0;
}

static int make_recipe(const struct runtime_facts *facts, const struct runtime_process *process,
		       const struct process_memory *memory, struct runtime_recipe *ret,
		       struct runtime_layout *ret_layout, struct engine_version *ret_version)
{
	struct runtime_recipe recipe = {
		.function_at = PHP_FRAME_FUNCTION,
		.position_at = PHP_FRAME_OPLINE,
		.position_mask = UINT64_MAX,
		.previous_at = PHP_FRAME_PREVIOUS,
		.entry_at = PHP_FRAME_CALL,
		.entry_mask = PHP_CALL_TOP,
		.entry_value = PHP_CALL_TOP,
		.native_at = PHP_FUNCTION_TYPE,
		.native_mask = 1, /* types of functions of PHP are even numbers */
		.native_value = PHP_FUNCTION_INTERNAL,
	};
	const struct php_layout *layout;
	bool is_complete = false; /* but for the check */
	struct php_file php;
	uint64_t globals;
	int err;

	*ret_version = (struct engine_version){0};
	memcpy(&php, facts, sizeof(php));
	if (php.loop_count > RUNTIME_LOOPS_MAX)
		return -EINVAL;
	err = php_version_read(&php, process->bias, memory, ret_version);
	if (err)
		return err == -EFAULT ? -EBADMSG : err;
	layout = php_layout_of(ret_version);
	if (!layout)
		return -ENOTSUP;
	err = set_newest(&php, process, memory, layout, &recipe, &globals);
	if (!err && globals) {
		err = php_self_check(memory, layout, globals);
		is_complete = err == -ENODATA;
	}
	if (err && !is_complete)
		return err == -EFAULT ? -EBADMSG : err;
	recipe.check = php_function_check(layout);
	set_loops(&php, process, memory, &recipe);
	set_switches(&php, process, &recipe);
	set_stand_in(&php, process, layout, &recipe);
	*ret = recipe;
	ret_layout->words[0] = layout->version;
	return err;
}

/* JIT code is elsewhere in each process. */
static void move_recipe(struct runtime_recipe *recipe, struct runtime_layout *layout, uint64_t by)
{
	uint32_t count = recipe->loop_count;

	if (recipe->base_kind == RUNTIME_BASE_ADDRESS)
		recipe->base += (int64_t)by;
	if (recipe->stand_in.class_pointer)
		recipe->stand_in.class_pointer += by;
	for (uint32_t i = 0; i < recipe->switch_count && i < RUNTIME_SWITCHES_MAX; i++) {
		recipe->switches[i].start += by;
		recipe->switches[i].end += by;
	}
	recipe->loop_count = 0;
	for (uint32_t i = 0; i < count && i < RUNTIME_LOOPS_MAX; i++) {
		struct runtime_range loop = recipe->loops[i];

		recipe->loops[i] = (struct runtime_range){0};
		if (!(loop.flags & RUNTIME_LOOP_COMPILED))
			add_range(recipe, loop.start + by, loop.end + by, loop.flags);
	}
}

static int read_function(const struct process_memory *memory, const struct runtime_recipe *recipe,
			 const struct runtime_layout *layout, uint64_t object, uint64_t owner,
			 struct runtime_function *ret)
{
	uint64_t version = layout->words[0];
	struct engine_version parts = {.part = {version / 100 % 100, version % 100}, .parts = 2};
	const struct php_layout *php = php_layout_of(&parts);

	return php ? php_function_read(memory, php, object, ret) : -EINVAL;
}

static bool knows(const struct engine_version *version)
{
	return php_layout_of(version);
}

const struct runtime_reader php_reader = {
	.engine = &engine_php,
	.symbol = "execute_ex",
	.needs_shared_code = true,
	.has_copies = true,
	.knows = knows,
	.facts = read_facts,
	.recipe = make_recipe,
	.move = move_recipe,
	.function = read_function,
};
