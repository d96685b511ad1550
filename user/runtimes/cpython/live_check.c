/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/cpython/live_check.h"

#include <errno.h>
#include <stdbool.h>

#include "runtimes/cpython/code_object.h"
#include "runtimes/runtime_frames.h"

#define INTERPRETERS_MAX 16
#define THREADS_MAX	 64
#define FRAMES_MAX	 16

/*
 * Where C libraries keep the values of pthread_getspecific(), from the thread pointer: glibc since
 * 2.0 has 32 pairs of number and value in the thread's descriptor, and an array of pointers to
 * further blocks of 32; musl has a pointer to all values.
 */
#define GLIBC_FIRST_BLOCK 0x310
#define GLIBC_BLOCKS	  0x510
#define GLIBC_BLOCK_KEYS  32
#define GLIBC_KEYS_MAX	  1024
#define MUSL_VALUES	  0x80
#define MUSL_KEYS_MAX	  128

struct steps {
	int64_t base;
	uint32_t count;
	int32_t step[RUNTIME_STEPS_MAX];
};

struct check {
	const struct process_memory *memory;
	const struct cpython_layout *layout;
	uint64_t runtime;
	struct runtime_recipe *recipe;
	uint64_t *code_type;
	struct steps libraries[2];
	uint32_t library_count;
	bool has_threads, is_found, is_refuted;
};

static void add_step(struct steps *steps, int64_t step)
{
	steps->step[steps->count++] = (int32_t)step;
}

static void libraries_init(struct check *check, uint32_t key)
{
	struct steps *glibc = &check->libraries[check->library_count];

	if (key < GLIBC_KEYS_MAX) {
		if (key < GLIBC_BLOCK_KEYS) {
			glibc->base = GLIBC_FIRST_BLOCK + 16 * (int64_t)key + 8;
			add_step(glibc, 0);
		} else {
			glibc->base = GLIBC_BLOCKS + 8 * (int64_t)(key / GLIBC_BLOCK_KEYS);
			add_step(glibc, 0);
			add_step(glibc, 16 * (int64_t)(key % GLIBC_BLOCK_KEYS) + 8);
		}
		check->library_count++;
	}
	if (key < MUSL_KEYS_MAX) {
		struct steps *musl = &check->libraries[check->library_count++];

		musl->base = MUSL_VALUES;
		add_step(musl, 0);
		add_step(musl, 8 * (int64_t)key);
	}
}

/* Returns true if the thread has its object where the library would have it. */
static bool has_it_there(const struct check *check, const struct steps *steps, uint64_t thread,
			 uint64_t pointer)
{
	uint64_t at = pointer + (uint64_t)steps->base;

	for (uint32_t i = 0; i < steps->count; i++) {
		if (process_memory_word(check->memory, at + (uint64_t)(int64_t)steps->step[i], &at))
			return false;
	}
	return at == thread;
}

static void use_library(struct check *check, const struct steps *steps)
{
	struct runtime_recipe *recipe = check->recipe;

	recipe->base_kind = RUNTIME_BASE_THREAD_POINTER;
	recipe->base = steps->base;
	recipe->step_count = 0;
	for (uint32_t i = 0; i < steps->count; i++)
		recipe->step[recipe->step_count++] = steps->step[i];
	if (check->layout->runtime_holder) {
		recipe->holder.at = check->runtime + check->layout->runtime_holder;
		recipe->holder.thread_at = check->layout->thread_id;
		recipe->holder.step = steps->count;
	}
	recipe->step[recipe->step_count++] = check->layout->thread_frame;
	recipe->steps_to_stack = check->layout->has_cframe ? recipe->step_count : 0;
	if (check->layout->has_cframe)
		recipe->step[recipe->step_count++] = check->layout->cframe_frame;
}

/*
 * Returns 0 if the newest frames of a thread are as expected, -ENODATA if it has none, and else
 * -EBADMSG. The thread runs meanwhile, so one of several tries suffices.
 */
static int check_frames(struct check *check, uint64_t pointer)
{
	struct runtime_thread thread = {.thread_pointer = pointer};
	struct runtime_frame frames[FRAMES_MAX];
	size_t count = 0, functions = 0;
	int err = runtime_frames_walk(check->memory, check->recipe, &thread, FRAMES_MAX, frames,
				      &count);

	for (size_t i = 0; i < count && !err; i++) {
		if (!frames[i].function)
			continue;
		err = cpython_code_is(check->memory, frames[i].function, check->code_type);
		functions++;
	}
	if (err)
		return -EBADMSG;
	return functions ? 0 : -ENODATA;
}

static int check_thread(struct check *check, uint64_t thread, uint64_t interpreter)
{
	const struct cpython_layout *layout = check->layout;
	uint64_t pointer, of;
	int err;

	if (process_memory_word(check->memory, thread + layout->thread_interpreter, &of) ||
	    process_memory_word(check->memory, thread + layout->thread_id, &pointer))
		return -ENODATA;
	if (of != interpreter) {
		check->is_refuted = true;
		return -ENODATA;
	}
	for (uint32_t i = 0; i < check->library_count; i++) {
		if (!has_it_there(check, &check->libraries[i], thread, pointer))
			continue;
		check->is_found = true;
		use_library(check, &check->libraries[i]);
		err = check_frames(check, pointer);
		if (err == -EBADMSG)
			check->is_refuted = true;
		return err ? -ENODATA : 0;
	}
	return -ENODATA;
}

static int check_threads(struct check *check, uint64_t interpreter, uint32_t *left)
{
	uint64_t thread;
	int err = process_memory_word(check->memory,
				      interpreter + check->layout->interpreter_threads, &thread);

	while (!err && thread && *left) {
		check->has_threads = true;
		(*left)--;
		err = check_thread(check, thread, interpreter);
		if (err != -ENODATA)
			return err;
		err = process_memory_word(check->memory, thread + check->layout->thread_next,
					  &thread);
	}
	return err ?: -ENODATA;
}

int cpython_live_check(const struct process_memory *memory, uint64_t runtime,
		       const struct cpython_layout *layout, struct runtime_recipe *recipe,
		       uint64_t *code_type)
{
	struct check check = {
		.memory = memory,
		.layout = layout,
		.runtime = runtime,
		.recipe = recipe,
		.code_type = code_type,
	};
	uint32_t key[2], threads_left = THREADS_MAX;
	uint64_t interpreter;
	int err = process_memory_read(memory, runtime + layout->tss_key, key, sizeof(key));

	err = err ?: process_memory_word(memory, runtime + layout->interpreters_head, &interpreter);
	if (err)
		return err;
	if (!key[CPYTHON_TSS_INITIALIZED / 4] || !interpreter)
		return -ENODATA;
	if (key[CPYTHON_TSS_INITIALIZED / 4] != 1)
		return -EBADMSG;
	libraries_init(&check, key[CPYTHON_TSS_KEY / 4]);
	for (int i = 0; i < INTERPRETERS_MAX && interpreter; i++) {
		err = check_threads(&check, interpreter, &threads_left);
		if (!err)
			return 0;
		if (process_memory_word(memory, interpreter + layout->interpreter_next,
					&interpreter))
			break;
	}
	return check.is_refuted || (check.has_threads && !check.is_found) ? -EBADMSG : -ENODATA;
}
