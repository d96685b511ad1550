/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/perl/perl_self_check.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/scope.h"
#include "runtimes/perl/perl_function.h"
#include "runtimes/runtime_frames.h"

#define FRAMES_MAX 1024
#define STACKS_MAX 1024
#define TRIES	   4 /* the process runs on, and may change frames while they are read */

static bool is_wrong(int err)
{
	return err == -EBADMSG || err == -EFAULT;
}

/* Set *ret to the current stack of contexts of a thread; 0: it has none. */
static int find_stack(const struct process_memory *memory, const struct runtime_recipe *recipe,
		      uint64_t thread_pointer, uint64_t *ret)
{
	uint64_t address = (uint64_t)recipe->base;
	int err = 0;

	if (recipe->base_kind == RUNTIME_BASE_THREAD_POINTER)
		address += thread_pointer;
	for (uint32_t i = 0; i < recipe->step_count && address && !err; i++)
		err = process_memory_word(memory, address + (uint64_t)(int64_t)recipe->step[i],
					  &address);
	*ret = address;
	return err;
}

/* The numbers of one stack. The newest function is one of its contexts; each can be -1: none. */
static int check_stack(const uint64_t *words)
{
	int64_t newest = (int32_t)words[PERL_STACK_NEWEST / 8];
	int64_t most = (int32_t)(words[PERL_STACK_NEWEST / 8] >> 32);
	int64_t sub = (int32_t)words[PERL_STACK_SUB / 8];

	return words[PERL_STACK_CONTEXTS / 8] && sub >= -1 && newest >= sub && most >= newest
		       ? 0
		       : -EBADMSG;
}

/* The outermost stack is that of the program. */
static int check_stacks(const struct process_memory *memory, uint64_t stack)
{
	for (uint32_t i = 0; i < STACKS_MAX; i++) {
		uint64_t words[PERL_STACK_BYTES / 8];
		int err = process_memory_read(memory, stack, words, sizeof(words));

		err = err ?: check_stack(words);
		if (err)
			return err;
		stack = words[PERL_STACK_PREVIOUS / 8];
		if (!stack)
			return words[PERL_STACK_KIND / 8] >> 32 == PERL_STACK_KIND_MAIN ? 0
											: -EBADMSG;
	}
	return -EBADMSG;
}

/* The outermost frame changes least. A thread can have none. */
static int check_outermost(const struct process_memory *memory, const struct perl_layout *layout,
			   const struct runtime_recipe *recipe, uint64_t thread_pointer)
{
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
	const struct runtime_thread thread = {.thread_pointer = thread_pointer};
	AUTO_FREE struct runtime_frame *frames = calloc(FRAMES_MAX, sizeof(*frames));
	const struct runtime_frame *last;
	size_t count;
	int err;

	if (!frames)
		return -ENOMEM;
	err = runtime_frames_walk(memory, recipe, &thread, FRAMES_MAX, frames, &count);
	if (err || !count)
		return err;
	last = &frames[count - 1];
	if (!last->function)
		return 0;
	err = perl_function_read(memory, &recipe->sections, layout, last->function, last->owner,
				 &function);
	return err ?: function.check != (last->check & ~1ull) ? err ?: -EBADMSG : 0;
}

int perl_check_frames(const struct process_memory *memory, const struct perl_layout *layout,
		      const struct runtime_recipe *recipe, uint64_t thread_pointer)
{
	int err = -EBADMSG;

	for (uint32_t i = 0; i < TRIES && (is_wrong(err) || err == -EAGAIN); i++) {
		uint64_t stack;

		if (i)
			process_memory_refresh(memory);
		err = find_stack(memory, recipe, thread_pointer, &stack);
		if (!err && !stack)
			return -ENODATA;
		err = err ?: check_stacks(memory, stack);
		err = err ?: check_outermost(memory, layout, recipe, thread_pointer);
	}
	return is_wrong(err) ? -EBADMSG : err;
}
