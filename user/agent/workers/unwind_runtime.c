/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/workers/unwind_runtime.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/clock.h"
#include "agent/workers/runtime_memory.h"
#include "base/scope.h"
#include "runtimes/runtime_readers.h"

static struct runtime_memory *open_memory(const struct memory_source *source,
					  const struct unwind_answer *answer)
{
	struct runtime_memory *memory = calloc(1, sizeof(*memory));

	if (memory) {
		memory->source = source;
		memory->pid = answer->request.pid;
		memory->owner = answer->request.owner;
	}
	return memory;
}

/* What recipe() of a reader wants to know of the mappings of a process. */
struct mapped_code {
	struct runtime_range shared[RUNTIME_LOOPS_MAX];
	struct runtime_code_range ranges[RUNTIME_CODE_RANGES_MAX];
};

/* Returns 0, and *process has the code, which is in *room; or a negative errno. */
static int read_mapped_code(const struct memory_source *source, const struct unwind_answer *answer,
			    const struct runtime_reader *reader, struct mapped_code *room,
			    struct runtime_process *process)
{
	const struct unwind_request *request = &answer->request;
	int err = 0;

	process->shared_code = room->shared;
	process->code_ranges = room->ranges;
	if (reader->needs_shared_code)
		err = source->shared_code(source->context, request->pid, room->shared,
					  RUNTIME_LOOPS_MAX, &process->shared_code_count);
	if (!err && reader->needs_code_ranges)
		err = source->code_ranges(source->context, request->pid, request->recipe.address,
					  room->ranges, RUNTIME_CODE_RANGES_MAX,
					  &process->code_range_count);
	return err;
}

/* The error of a reader, or that of the memory. Only a file can lack symbols. */
static int error_of(const struct runtime_memory *memory, int err)
{
	return memory->failed == -ENOENT ? -ESRCH : memory->failed ?: err;
}

static int make_recipe(const struct memory_source *source, const struct unwind_maker *maker,
		       const struct unwind_answer *answer, struct runtime_known *known)
{
	const struct unwind_recipe_request *request = &answer->request.recipe;
	AUTO_FREE struct runtime_memory *memory = open_memory(source, answer);
	struct runtime_process process = {.thread_pointer = request->thread_pointer};
	struct mapped_code mapped;
	struct process_memory of_process;
	struct runtime_facts facts;
	uint64_t address;
	int err;

	if (!memory)
		return -ENOMEM;
	err = maker->facts(maker->context, request->module, known->reader, request->file_offset,
			   &facts, &address);
	if (err)
		return err;
	process.bias = request->address - address;
	of_process = runtime_memory_of(memory);
	err = known->reader->recipe(&facts, &process, &of_process, &known->recipe, &known->layout,
				    &known->version);
	if (err)
		return error_of(memory, err);
	/* It takes longer than all else, so it is not read while the runtime starts. */
	err = read_mapped_code(source, answer, known->reader, &mapped, &process);
	if (!err && known->reader->needs_code_ranges && !process.code_range_count) {
		/* The runtime has no memory for its code yet. */
		known->recipe = (struct runtime_recipe){0};
		return -ENODATA;
	}
	if (err || !(process.shared_code_count + process.code_range_count))
		return err;
	process_memory_refresh(&of_process);
	err = known->reader->recipe(&facts, &process, &of_process, &known->recipe, &known->layout,
				    &known->version);
	return err ? error_of(memory, err) : 0;
}

int unwind_runtime_recipe(const struct memory_source *memory, const struct unwind_maker *maker,
			  struct unwind_answer *answer)
{
	struct runtime_known *known = calloc(1, sizeof(*known));

	if (!known)
		return -ENOMEM;
	answer->known = known;
	known->reader = runtime_reader_of(answer->request.recipe.engine);
	return known->reader ? make_recipe(memory, maker, answer, known) : -EOPNOTSUPP;
}

int unwind_runtime_function(const struct memory_source *source, struct unwind_answer *answer)
{
	const struct unwind_function_request *request = &answer->request.function;
	const struct runtime_known *known = request->known;
	AUTO_FREE struct runtime_memory *memory = open_memory(source, answer);
	AUTO_FREE struct runtime_function *function = calloc(1, sizeof(*function));
	struct process_memory of_process;
	int err;

	if (!memory || !function)
		return -ENOMEM;
	memory->note_owner = known->recipe.number;
	of_process = runtime_memory_of(memory);
	err = known->reader->function(&of_process, &known->recipe, &known->layout, request->object,
				      request->function_owner, function);
	if (err)
		return error_of(memory, err);
	answer->function = TAKE_PTR(function);
	return 0;
}

int unwind_runtime_code(const struct memory_source *source, struct unwind_answer *answer)
{
	const struct unwind_find_request *request = &answer->request.find;
	const struct runtime_known *known = request->known;
	AUTO_FREE struct runtime_memory *memory = open_memory(source, answer);
	AUTO_FREE struct runtime_code *code = calloc(1, sizeof(*code));
	struct process_memory of_process;
	int err;

	if (!memory || !code)
		return -ENOMEM;
	if (!known->reader->code_at)
		return -EOPNOTSUPP;
	of_process = runtime_memory_of(memory);
	answer->found_ns = clock_now_ns();
	err = known->reader->code_at(&of_process, &known->recipe, &known->layout, request->address,
				     code);
	answer->read_ns = clock_now_ns();
	if (err)
		return error_of(memory, err);
	if (!runtime_code_is_valid(code, request->address)) {
		runtime_code_deinit(code);
		return -EBADMSG;
	}
	answer->code = TAKE_PTR(code);
	return 0;
}

int unwind_runtime_check(const struct memory_source *source, struct unwind_answer *answer)
{
	AUTO_FREE struct runtime_memory *memory = open_memory(source, answer);
	struct process_memory of_process;
	bool same;
	int err;

	if (!memory)
		return -ENOMEM;
	of_process = runtime_memory_of(memory);
	err = runtime_identity_holds(answer->request.code.check.identity, &of_process, &same);
	answer->differs = !err && !same;
	return err ? error_of(memory, err) : 0;
}

int unwind_runtime_program(const struct unwind_maker *maker, struct unwind_answer *answer)
{
	const struct runtime_reader *reader;
	int err = maker->runtime(maker->context, answer->request.program.module, &reader);

	if (!err && reader)
		answer->engine = reader->engine;
	return err;
}

void unwind_runtime_release(struct unwind_answer *answer)
{
	struct runtime_function *function = (struct runtime_function *)answer->function;

	if (function)
		runtime_function_deinit(function);
	free(function);
	if (answer->code)
		runtime_code_deinit(answer->code);
	free(answer->code);
	free((void *)answer->known);
	answer->function = NULL;
	answer->code = NULL;
	answer->known = NULL;
}
