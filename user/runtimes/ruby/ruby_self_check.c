/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/ruby/ruby_self_check.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "runtimes/ruby/ruby_function.h"
#include "runtimes/runtime_frames.h"

#define FRAMES_MAX     1024
#define NAME_BYTES_MAX 64
#define PLUS	       '+' /* the symbol :+ has this number */
#define TRIES	       4   /* the process runs on, and may change frames while they are read */

static bool is_wrong(int err)
{
	return err == -EBADMSG || err == -EFAULT;
}

static int check_symbols(const struct ruby_memory *ruby)
{
	AUTO_FREE char *name = NULL;
	uint64_t last;
	int err = process_memory_word(ruby->memory, ruby->symbols, &last);

	if (!err && !(uint32_t)last)
		return -ENODATA;
	err = err ?: ruby_symbol_read(ruby, PLUS, NAME_BYTES_MAX, &name);
	return err ?: strcmp(name, "+") ? err ?: -EBADMSG : 0;
}

int ruby_check_objects(struct ruby_memory *ruby, uint64_t array_class)
{
	AUTO_FREE char *name = NULL;
	uint64_t class;
	int err = process_memory_word(ruby->memory, array_class, &class);

	if (!err && !class)
		return -ENODATA;
	err = err ?: check_symbols(ruby);
	if (!err && !ruby->layout->class_path)
		err = ruby_class_path_find(ruby, class, "Array", &ruby->class_path);
	err = err ?: ruby_class_name(ruby, class, &name);
	if (!err && strcmp(name, "Array") != 0)
		err = -EBADMSG;
	return is_wrong(err) ? -EBADMSG : err;
}

/* Set *ret to the execution context of a thread; 0: it runs no Ruby. */
static int read_context(const struct ruby_memory *ruby, const struct runtime_recipe *recipe,
			uint64_t thread_pointer, uint64_t *ret)
{
	uint64_t address = thread_pointer + (uint64_t)recipe->base;
	int err = 0;

	for (uint32_t i = 0; i + 1 < recipe->step_count && !err; i++)
		err = process_memory_word(ruby->memory,
					  address + (uint64_t)(int64_t)recipe->step[i], &address);
	*ret = address;
	return err;
}

static int check_context(const struct ruby_memory *ruby, uint64_t context)
{
	uint64_t thread, back;
	int err = process_memory_word(ruby->memory, context + RUBY_CONTEXT_THREAD, &thread);

	err = err
		      ?: process_memory_word(ruby->memory,
					     thread + (uint64_t)ruby->layout->thread_context,
					     &back);
	return err ?: back != context ? err ?: -EBADMSG : 0;
}

static int check_frame(const struct ruby_memory *ruby, const struct runtime_recipe *recipe,
		       const struct runtime_frame *frame)
{
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
	int err =
		ruby_function_read(ruby, &recipe->owner, frame->function, frame->owner, &function);

	if (err)
		return err;
	if (function.check != (frame->check & ~1ull) ||
	    (*function.file && !runtime_function_line(&function, frame->position)))
		return -EBADMSG;
	return 0;
}

/* The outermost frame changes least. It is the entry of a loop. */
static int check_outermost(const struct ruby_memory *ruby, const struct runtime_recipe *recipe,
			   uint64_t thread_pointer)
{
	const struct runtime_thread thread = {.thread_pointer = thread_pointer};
	AUTO_FREE struct runtime_frame *frames = calloc(FRAMES_MAX, sizeof(*frames));
	size_t count;
	int err;

	if (!frames)
		return -ENOMEM;
	err = runtime_frames_walk(ruby->memory, recipe, &thread, FRAMES_MAX, frames, &count);
	if (err)
		return err;
	if (!count)
		return -ENODATA;
	return check_frame(ruby, recipe, &frames[count - 1]);
}

int ruby_check_frames(const struct ruby_memory *ruby, const struct runtime_recipe *recipe,
		      uint64_t thread_pointer)
{
	int err = -EBADMSG;

	for (uint32_t i = 0; i < TRIES && (is_wrong(err) || err == -EAGAIN); i++) {
		uint64_t context;

		if (i)
			process_memory_refresh(ruby->memory);
		err = read_context(ruby, recipe, thread_pointer, &context);
		if (!err && !context)
			return -ENODATA;
		err = err ?: check_context(ruby, context);
		err = err ?: check_outermost(ruby, recipe, thread_pointer);
	}
	return is_wrong(err) ? -EBADMSG : err;
}
