/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests and publishes the recipes of processes with a known runtime. */
#include <errno.h>

#include "decode/record/sample_parts.h"
#include "unwind/unwinder_runtimes.h"
#include "unwind/unwinder_runtimes_state.h"

#define SWEEP_NS	  1000000000ull
#define FILE_MAPPINGS_MAX 8192 /* that are looked at for those of a runtime */

/*
 * Find the executable mappings of a file. Returns false if there is none. Else *ret_first is that
 * of its first part, and *ret covers all. A program can map a part of its code once more, as V8
 * does with its builtins, also below.
 */
static bool find_file(const struct process *process, uint32_t module, struct mapping *ret_first,
		      struct runtime_range *ret)
{
	struct space_entry entry;
	uint64_t address = 0;

	*ret = (struct runtime_range){0};
	for (uint32_t i = 0; process->mappings && i < FILE_MAPPINGS_MAX &&
			     space_map_next(process->mappings, address, &entry);
	     i++) {
		const struct mapping *mapping = (const struct mapping *)entry.value;

		address = entry.end;
		if (mapping->module != module)
			continue;
		if (!ret->end)
			ret->start = entry.start;
		if (!ret->end || mapping->file_offset < ret_first->file_offset)
			*ret_first = *mapping;
		ret->end = entry.end;
	}
	return ret->end;
}

static int ask_recipe(struct unwinder *u, struct recipe_process *one)
{
	const struct process *process = one->process;
	const struct unwind_account account = {.unwinder = u, .process = process};
	const struct module *module = module_table_get(u->modules, one->module);
	struct unwind_request request = {
		.kind = UNWIND_RUNTIME_RECIPE,
		.pid = process->pid,
		.owner = process_owner_key(&process->owner),
		.recipe = {.module = module,
			   .engine = one->engine,
			   .thread_pointer = one->thread_pointer},
	};
	struct runtime_range ignored;
	struct mapping mapping;
	int err;

	if (!module || !find_file(process, one->module, &mapping, &ignored) ||
	    !unwind_may_ask(&account, UNWIND_ASKED_MAX))
		return 0;
	request.recipe.address = mapping.address;
	request.recipe.file_offset = mapping.file_offset;
	recipe_process_asked(&u->recipes, one, u->known_ns);
	request.recipe.ticket = one->ticket;
	err = unwind_ask(u, &request);
	if (err)
		runtime_recipes_forget(&u->recipes, process, u->known_ns);
	return err;
}

/* Publish what the process is expected to have, before its runtime has started. */
static int expect_recipe(struct unwinder *u, struct recipe_process *one)
{
	struct runtime_known known;
	struct runtime_range own;
	struct mapping mapping;

	if (one->recipe || one->tries || !one->stack_top ||
	    !find_file(one->process, one->module, &mapping, &own) ||
	    !recipe_templates_make(&u->templates, one->process->owner.uid, one->module,
				   mapping.address, mapping.file_offset, u->known_ns, &known))
		return 0;
	return runtime_recipes_expect(&u->recipes, one, &known, &own, u->known_ns);
}

/* Returns the end of the stack of the program, as of a sample, or 0. */
static uint64_t stack_top_of(const struct unwinder *u, const struct process *process,
			     const struct jitbpf_stack_copy *copy)
{
	const struct walked_process *walked;

	if (copy)
		return copy->stack_top;
	walked = unwind_processes_find(&u->processes, process);
	return walked && walked_process_is_current(walked) ? walked->stack_top : 0;
}

/* Returns true if a sample has runtime frames. Then its thread is one to check a recipe by. */
static bool shows_runtime(const struct jitbpf_sample *sample, struct recipe_process *one)
{
	const struct jitbpf_runtime_frames *part = sample_runtime_frames(sample);

	if (!part || !part->count)
		return false;
	one->thread_pointer = part->thread_pointer;
	return true;
}

/* Find out whether a program that was sampled has a runtime. Returns 0 or -ENOMEM. */
static int want_program(struct unwinder *u, const struct process *process, uint32_t number)
{
	const struct unwind_account account = {.unwinder = u, .process = process};
	struct unwind_request request = {
		.kind = UNWIND_PROGRAM,
		.pid = process->pid,
		.owner = process_owner_key(&process->owner),
	};

	program_runtimes_sampled(&u->recipes.programs, process, number);
	if (!program_runtimes_may_ask(&u->recipes.programs, number))
		return 0;
	request.program.module = module_table_get(u->modules, number);
	if (!request.program.module || !unwind_may_ask(&account, UNWIND_ASKED_MAX))
		return 0;
	if (program_runtimes_asked(&u->recipes.programs, number))
		return -ENOMEM;
	return unwind_ask(u, &request);
}

int unwind_want_recipe(struct unwinder *u, const struct process *process,
		       const struct jitbpf_sample *sample)
{
	struct recipe_process *one = runtime_recipes_find(&u->recipes, process);
	const struct jitbpf_stack_copy *copy;
	struct readable_runtime runtime;
	uint64_t stack_top;
	bool shows;
	int err;

	if (sample->h.time_ns < process->program_ns)
		return 0;
	if (!runtime_recipes_runtime(&u->recipes, process, &runtime))
		return want_program(u, process, runtime.module);
	if (process->exit_ns != UINT64_MAX)
		return 0;
	copy = stack_copy_of(sample);
	/* During an exec, the kernel has a preliminary end of the stack. */
	if (!one || !one->engine || one->module != runtime.module || !one->stack_top ||
	    (copy && copy->stack_top && copy->stack_top != one->stack_top)) {
		stack_top = stack_top_of(u, process, copy);
		if (!stack_top)
			return 0;
		err = runtime_recipes_add(&u->recipes, process, stack_top,
					  copy ? copy->thread_pointer : 0, &one);
		if (err)
			return err == -ENOENT ? 0 : err;
	}
	err = expect_recipe(u, one);
	if (err)
		return err;
	shows = shows_runtime(sample, one);
	if (one->recipe && one->recipe->expected && one->wait == RUNTIME_RESTS)
		return shows || one->due_ns <= u->known_ns ? ask_recipe(u, one) : 0;
	return recipe_process_is_due(one, u->known_ns) ? ask_recipe(u, one) : 0;
}

int unwind_take_recipe(struct unwinder *u, const struct unwind_answer *answer)
{
	const struct recipe_process *one =
		runtime_recipes_asker(&u->recipes, answer->request.recipe.ticket);
	struct runtime_range own = {0};
	struct mapping ignored;

	if (!one)
		return 0;
	if (!answer->error && answer->known)
		recipe_templates_put(&u->templates, one->process->owner.uid,
				     &answer->request.recipe, answer->known, u->known_ns);
	find_file(one->process, one->module, &ignored, &own);
	unwind_wake(&u->woken, found_code_key(one->process, 0));
	return runtime_recipes_take(&u->recipes, answer, &own, u->known_ns);
}

int unwind_runtimes_go_on(struct unwinder *u)
{
	struct runtime_recipes *recipes = &u->recipes;
	bool asked = false;
	int err = 0;

	u->runtimes_start = u->runtimes_young = false;
	if (unwind_has_recipes(u))
		u->tables.found_functions(u->tables.context, u->functions_found);
	u->functions_found = false;
	for (size_t i = 0; recipes->open && i < recipes->by_slot.size && !err; i++) {
		struct recipe_process *one = recipes->by_slot.data[i];

		if (!one || one->wait == RUNTIME_RESTS)
			continue;
		if (!runtime_recipes_look(recipes, one, u->known_ns)) {
			u->runtimes_start = true;
			continue;
		}
		err = expect_recipe(u, one);
		if (one->wait == RUNTIME_PAUSES && recipe_process_is_due(one, u->known_ns))
			err = err ?: ask_recipe(u, one);
		if (one->wait != RUNTIME_RESTS && one->tries <= RUNTIME_SOON_TRIES)
			u->runtimes_start = true;
		else if (one->wait != RUNTIME_RESTS &&
			 u->known_ns - one->first_ns < RUNTIME_YOUNG_NS)
			u->runtimes_young = true;
		asked = asked || one->wait == RUNTIME_ASKED;
	}
	if (asked && u->runtimes_start && !err)
		err = unwinder_collect(u, 0, u->known_ns);
	u->runtimes_start = u->runtimes_start && recipes->open;
	if (err < 0)
		return err;
	err = 0;
	if (u->known_ns < u->runtimes_swept_ns + SWEEP_NS)
		return err;
	u->runtimes_swept_ns = u->known_ns;
	shared_recipes_sweep(&recipes->shared, u->known_ns);
	sampled_functions_sweep(&u->functions, u->known_ns);
	return err;
}

int unwinder_program(struct unwinder *u, const struct process *process,
		     const struct jitbpf_program *program)
{
	return unwind_has_recipes(u) ? runtime_recipes_begin(&u->recipes, process, program) : 0;
}

int unwinder_forked(struct unwinder *u, const struct process *parent, const struct process *child)
{
	return unwind_has_recipes(u) ? runtime_recipes_forked(&u->recipes, parent, child) : 0;
}

bool unwinder_runtimes_start(const struct unwinder *u)
{
	return u->runtimes_start;
}

bool unwinder_runtimes_young(const struct unwinder *u)
{
	return u->runtimes_young;
}

bool unwinder_take_runtime(struct unwinder *u, struct runtime_news *ret)
{
	struct runtime_recipes *recipes = &u->recipes;

	if (!recipes->news)
		return false;
	vec_for_each (one, &recipes->by_slot) {
		if (!*one || !(*one)->is_news)
			continue;
		(*one)->is_news = false;
		recipes->news--;
		*ret = (struct runtime_news){(*one)->process, (*one)->engine, (*one)->status,
					     (*one)->version};
		return true;
	}
	recipes->news = 0;
	return false;
}
