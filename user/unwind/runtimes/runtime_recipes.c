/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/runtimes/runtime_recipes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtimes/runtime_readers.h"
#include "unwind/runtimes/published_recipes.h"

/*
 * The pause before the next request, while the runtime starts, is this part of the time since the
 * first answer. So a recipe comes late by a known share of the time that the program has run or, on
 * a busy machine, waited for a CPU. The first requests have no pause.
 */
#define STARTING_PART	  16
#define STARTING_MAX_NS	  200000000000ull /* structures that look wrong for so long stay so */
#define MAPPED_PAUSE_NS	  200000000ull	  /* after the process has mapped more code; then doubled */
#define SHORTEST_PAUSE_NS 10000000ull	  /* the same if code beside the file has frames, too */
#define LONGEST_PAUSE_NS  10000000000ull
#define EXPECTED_NS	  200000000ull
#define DOUBLINGS_MAX	  16

bool runtime_recipes_runtime(const struct runtime_recipes *recipes, const struct process *process,
			     struct readable_runtime *ret)
{
	for (uint32_t i = 0; i < process->runtimes.count; i++) {
		const struct process_runtime *runtime = &process->runtimes.runtimes[i];

		*ret = (struct readable_runtime){process_runtime_engine(runtime), runtime->module};
		if (runtime_reader_of(ret->engine) && ret->module != MAPPING_ANON)
			return true;
	}
	ret->module = program_module(process);
	ret->engine = program_runtimes_find(&recipes->programs, ret->module);
	return ret->engine;
}

struct recipe_process *runtime_recipes_find(const struct runtime_recipes *recipes,
					    const struct process *process)
{
	struct recipe_process *one =
		process->slot < recipes->by_slot.size ? recipes->by_slot.data[process->slot] : NULL;

	return one && one->process == process ? one : NULL;
}

static void set_status(struct runtime_recipes *recipes, struct recipe_process *one,
		       enum jitbpf_runtime_status status, const struct engine_version *version)
{
	if (one->status == status && !memcmp(&one->version, version, sizeof(*version)))
		return;
	one->status = status;
	one->version = *version;
	recipes->news += !one->is_news;
	one->is_news = true;
}

static void drop(struct runtime_recipes *recipes, struct recipe_process *one, uint64_t now_ns)
{
	published_recipes_end(recipes, one, now_ns);
	if (one->begun_ns && !one->engine)
		recipes->tables->skip_program(recipes->tables->context, &one->program);
	recipes->by_slot.data[one->process->slot] = NULL;
	recipes->open -= one->wait != RUNTIME_RESTS;
	recipes->news -= one->is_news;
	owner_budget_put(&recipes->budget, one->owner);
	free(one);
}

static bool is_current(const struct recipe_process *one)
{
	return one->process->exit_ns == UINT64_MAX && one->process->mappings &&
	       one->process->program_ns == one->program_ns;
}

/* Returns true if an answer could have brought the recipe of a process, which has ended. */
static bool is_undecided(const struct recipe_process *one)
{
	if (one->recipe)
		return one->recipe->expected;
	return one->engine && one->wait != RUNTIME_RESTS;
}

/* The process has ended. Its entry is kept until it is forgotten if its status is news. */
static void end(struct runtime_recipes *recipes, struct recipe_process *one, uint64_t now_ns)
{
	if (is_undecided(one))
		set_status(recipes, one, JITBPF_RUNTIME_ENDED, &one->version);
	if (!one->is_news) {
		drop(recipes, one, now_ns);
		return;
	}
	published_recipes_end(recipes, one, now_ns);
	recipes->open -= one->wait != RUNTIME_RESTS;
	one->wait = RUNTIME_RESTS;
}

void runtime_recipes_changed(struct runtime_recipes *recipes, const struct process *process,
			     uint64_t now_ns)
{
	struct recipe_process *one = runtime_recipes_find(recipes, process);

	program_runtimes_changed(&recipes->programs, process);
	if (one && process->exit_ns != UINT64_MAX)
		end(recipes, one, now_ns);
	else if (one && !is_current(one))
		drop(recipes, one, now_ns);
}

void runtime_recipes_forget(struct runtime_recipes *recipes, const struct process *process,
			    uint64_t now_ns)
{
	struct recipe_process *one = runtime_recipes_find(recipes, process);

	if (one)
		drop(recipes, one, now_ns);
}

static int make(struct runtime_recipes *recipes, const struct process *process,
		struct recipe_process **ret)
{
	struct recipe_process *one;
	int err;

	if (process->exit_ns != UINT64_MAX || !process->mappings)
		return -ENOENT;
	while (recipes->by_slot.size <= process->slot) {
		if (vec_push(&recipes->by_slot, NULL))
			return -ENOMEM;
	}
	if (recipes->by_slot.data[process->slot])
		drop(recipes, recipes->by_slot.data[process->slot], process->from_ns);
	one = calloc(1, sizeof(*one));
	if (!one)
		return -ENOMEM;
	err = owner_budget_get(&recipes->budget, process_owner_key(&process->owner), &one->owner);
	if (err) {
		free(one);
		return err;
	}
	one->process = process;
	one->program_ns = process->program_ns;
	one->wait = RUNTIME_PAUSES;
	recipes->open++;
	recipes->by_slot.data[process->slot] = one;
	*ret = one;
	return 0;
}

/* stack_top 0: not known. The recipe is published with it. */
static void set_stack_top(struct runtime_recipes *recipes, struct recipe_process *one,
			  uint64_t stack_top)
{
	if (!stack_top || stack_top == one->stack_top)
		return;
	one->stack_top = stack_top;
	published_recipes_again(recipes, one);
}

int runtime_recipes_add(struct runtime_recipes *recipes, const struct process *process,
			uint64_t stack_top, uint64_t thread_pointer, struct recipe_process **ret)
{
	struct recipe_process *one = runtime_recipes_find(recipes, process);
	int err = one ? 0 : make(recipes, process, &one);
	struct readable_runtime runtime;

	if (err || !runtime_recipes_runtime(recipes, process, &runtime))
		return err ?: -ENOENT;
	if (stack_top && stack_top != one->stack_top) /* it is another program's */
		one->thread_pointer = 0;
	set_stack_top(recipes, one, stack_top);
	one->thread_pointer = thread_pointer ?: one->thread_pointer;
	if (one->module != runtime.module || !one->engine) {
		one->module = runtime.module;
		one->engine = runtime.engine;
		one->tries = 0;
		one->due_ns = 0;
		/* What is answered about the other file, such as the program, means nothing. */
		recipes->open += one->wait == RUNTIME_RESTS;
		one->wait = RUNTIME_PAUSES;
	}
	*ret = one;
	return 0;
}

int runtime_recipes_begin(struct runtime_recipes *recipes, const struct process *process,
			  const struct jitbpf_program *program)
{
	struct recipe_process *one = runtime_recipes_find(recipes, process);
	int err = one ? 0 : make(recipes, process, &one);

	if (err)
		return err == -ENOENT ? 0 : err;
	set_stack_top(recipes, one, program->stack_top);
	one->program = program->file;
	one->begun_ns = program->h.time_ns;
	return 0;
}

bool runtime_recipes_look(struct runtime_recipes *recipes, struct recipe_process *one,
			  uint64_t now_ns)
{
	struct readable_runtime runtime;

	if (!one->engine && runtime_recipes_runtime(recipes, one->process, &runtime))
		runtime_recipes_add(recipes, one->process, one->stack_top, 0, &one);
	if (one->engine)
		return true;
	if (one->begun_ns + RUNTIME_LOOK_OUT_NS < now_ns)
		drop(recipes, one, now_ns);
	return false;
}

bool recipe_process_is_due(const struct recipe_process *one, uint64_t now_ns)
{
	if (one->wait == RUNTIME_ASKED || !one->stack_top)
		return false;
	if (one->wait == RUNTIME_PAUSES)
		return one->due_ns <= now_ns;
	return one->process->mapped_ns > one->mapped_ns && one->due_ns <= now_ns;
}

void recipe_process_asked(struct runtime_recipes *recipes, struct recipe_process *one,
			  uint64_t now_ns)
{
	recipes->open += one->wait == RUNTIME_RESTS;
	one->wait = RUNTIME_ASKED;
	one->ticket = ++recipes->last_ticket << 32 | one->process->slot;
	one->asked_ns = now_ns;
	one->mapped_ns = one->process->mapped_ns;
	one->tries++;
}

struct recipe_process *runtime_recipes_asker(const struct runtime_recipes *recipes, uint64_t ticket)
{
	uint32_t slot = (uint32_t)ticket;
	struct recipe_process *one =
		slot < recipes->by_slot.size ? recipes->by_slot.data[slot] : NULL;

	return one && one->wait == RUNTIME_ASKED && one->ticket == ticket ? one : NULL;
}

static uint64_t pause_of(const struct recipe_process *one, enum runtime_wait wait, uint64_t now_ns)
{
	uint32_t doublings = one->tries > 1 ? one->tries - 1 : 0;
	const struct runtime_reader *reader = runtime_reader_of(one->engine);

	/* More code can be the code of a new thread. */
	if (wait == RUNTIME_RESTS && reader && reader->needs_code_ranges)
		return SHORTEST_PAUSE_NS + (now_ns - one->first_ns) / STARTING_PART;
	if (wait == RUNTIME_RESTS)
		return MAPPED_PAUSE_NS << (doublings < DOUBLINGS_MAX ? doublings : DOUBLINGS_MAX);
	/* While the runtime starts, each round requests it once. */
	if (one->tries <= RUNTIME_SOON_TRIES)
		return 1;
	return (now_ns - one->first_ns) / STARTING_PART;
}

static void pause_for(struct runtime_recipes *recipes, struct recipe_process *one,
		      enum runtime_wait wait, uint64_t now_ns)
{
	uint64_t pause_ns = pause_of(one, wait, now_ns);

	one->wait = wait;
	one->due_ns = now_ns + (pause_ns < LONGEST_PAUSE_NS ? pause_ns : LONGEST_PAUSE_NS);
	recipes->open -= wait == RUNTIME_RESTS;
}

int runtime_recipes_expect(struct runtime_recipes *recipes, struct recipe_process *one,
			   const struct runtime_known *known, const struct runtime_range *own,
			   uint64_t now_ns)
{
	int err = published_recipes_expect(recipes, one, known, own, now_ns);

	if (err)
		return err == -ENOMEM ? err : 0;
	/* A sample with its frames has it confirmed, or any sample if these do not come. */
	one->due_ns = now_ns + EXPECTED_NS;
	recipes->open -= one->wait != RUNTIME_RESTS;
	one->wait = RUNTIME_RESTS;
	set_status(recipes, one, JITBPF_RUNTIME_STARTING, &known->version);
	return 0;
}

/*
 * Returns true if a later request may get a recipe. While a runtime starts, its structures can also
 * look wrong: a list has a thread that has not begun.
 */
static bool may_change(const struct recipe_process *one, int err, uint64_t now_ns)
{
	return err == -ENODATA || err == -ETIMEDOUT ||
	       ((err == -EBADMSG || err == -EAGAIN) && now_ns - one->first_ns < STARTING_MAX_NS);
}

/* Returns true if all that a recipe lacks is a runtime that has started. */
static bool is_expected(const struct recipe_process *one, const struct runtime_known *known)
{
	return known && (known->recipe.loop_count || known->recipe.native.range_count) &&
	       !one->recipe;
}

int runtime_recipes_take(struct runtime_recipes *recipes, const struct unwind_answer *answer,
			 const struct runtime_range *own, uint64_t now_ns)
{
	struct recipe_process *one = runtime_recipes_asker(recipes, answer->request.recipe.ticket);
	const struct engine_version none = {0};
	const struct engine_version *version = answer->known ? &answer->known->version : &none;
	int err = answer->error;
	bool changes;

	if (!one)
		return 0;
	if (one->tries == 1)
		one->first_ns = now_ns;
	if (err == -ENODATA && is_expected(one, answer->known))
		return runtime_recipes_expect(recipes, one, answer->known, own, now_ns);
	if (!err && answer->known)
		err = published_recipes_take(recipes, one, answer->known, own, now_ns);
	if (err == -ENOMEM && !answer->error) {
		pause_for(recipes, one, RUNTIME_PAUSES, now_ns);
		return err;
	}
	changes = may_change(one, err, now_ns);
	pause_for(recipes, one, changes ? RUNTIME_PAUSES : RUNTIME_RESTS, now_ns);
	if (one->recipe && one->recipe->expected && err && !changes)
		published_recipes_end(recipes, one, now_ns);
	/* A recipe in force stays if a later request fails. */
	if (one->recipe && !one->recipe->expected)
		set_status(recipes, one, JITBPF_RUNTIME_SHOWN, &one->recipe->known.version);
	else if (err != -ETIMEDOUT)
		set_status(recipes, one, runtime_status_of(err), version);
	return 0;
}

int runtime_recipes_forked(struct runtime_recipes *recipes, const struct process *parent,
			   const struct process *child)
{
	const struct recipe_process *from = runtime_recipes_find(recipes, parent);
	struct recipe_process *one;
	int err;

	if (!from || !from->engine || !is_current(from) || runtime_recipes_find(recipes, child))
		return 0;
	err = make(recipes, child, &one);
	if (err)
		return err == -ENOENT ? 0 : err;
	one->stack_top = from->stack_top;
	one->module = from->module;
	one->engine = from->engine;
	if (from->recipe && !published_recipes_add(recipes, one, from->recipe) &&
	    !from->recipe->expected) {
		recipes->open--;
		one->wait = RUNTIME_RESTS;
		one->mapped_ns =
			from->mapped_ns > child->mapped_ns ? from->mapped_ns : child->mapped_ns;
		set_status(recipes, one, JITBPF_RUNTIME_SHOWN, &from->recipe->known.version);
	}
	return 0;
}

void runtime_recipes_deinit(struct runtime_recipes *recipes)
{
	vec_for_each (one, &recipes->by_slot) {
		if (!*one)
			continue;
		if ((*one)->recipe)
			owner_budget_release(&recipes->budget, (*one)->owner, 1);
		owner_budget_put(&recipes->budget, (*one)->owner);
		free(*one);
	}
	vec_deinit(&recipes->by_slot);
	program_runtimes_deinit(&recipes->programs);
	shared_recipes_deinit(&recipes->shared);
	owner_budget_deinit(&recipes->budget);
}
