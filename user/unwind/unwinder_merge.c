/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Merges the runtime frames of a sample with its native ones. */
#include <errno.h>
#include <string.h>

#include "unwind/runtimes/native_merge.h"
#include "unwind/unwinder_functions.h"
#include "unwind/unwinder_runtimes.h"
#include "unwind/unwinder_runtimes_state.h"

/*
 * Returns 0 with the number of the functions of a runtime that are not known, for a user; or
 * -ENOMEM.
 */
static int unknown_of(struct unwinder *u, const struct engine *engine,
		      const struct process *process, uint64_t *ret)
{
	struct runtime_name *name;
	int err = runtime_names_get(&u->functions.names, engine, "", "", 0,
				    process->owner.charged_uid, process->pid, &name);

	if (err)
		return err;
	*ret = name->number;
	runtime_names_put(&u->functions.names, name);
	return 0;
}

/* Returns true for a native frame that holds no function. */
static bool is_empty(const struct shared_recipe *recipe, const struct runtime_frame *frame)
{
	return recipe->known.recipe.native.range_count && !frame->function;
}

static int words_of(struct unwinder *u, const struct process *process,
		    const struct shared_recipe *recipe, const struct runtime_frame *frame,
		    struct function_memo *memo, struct runtime_words *ret)
{
	struct sampled_function *one = NULL;
	uint64_t number = 0;
	int err = 0;

	*ret = (struct runtime_words){0, 0};
	if (runtime_frame_is_mark(frame) || is_empty(recipe, frame))
		return 0;
	if (runtime_frame_can_be_read(frame))
		err = runtime_get_function(u, process, recipe, frame, memo, &one);
	if (err)
		return err;
	if (one && one->name) {
		*ret = runtime_named_words(one, frame);
		return 0;
	}
	u->functions_unknown++;
	err = unknown_of(u, recipe->engine, process, &number);
	ret->function = RUNTIME_WORD(number);
	return err;
}

/* Set *ret to the words of the frames of a sample, borrowed. Returns 0 or -ENOMEM. */
static int find_words(struct unwinder *u, const struct process *process,
		      const struct shared_recipe *recipe, const struct jitbpf_sample *sample,
		      const struct jitbpf_runtime_frames *part, const struct runtime_words **ret)
{
	struct known_stack *stack = known_stacks_of(&u->known_stacks, sample->tid);
	const struct runtime_frame *frames = part->frames;
	struct runtime_words *words = u->runtime_words;
	struct function_memo memo = {0};
	uint32_t count = part->count;
	int err = 0;

	if (stack && known_stack_is(stack, runtime_scope_of(recipe, process), part))
		count -= stack->known;
	*ret = stack && !count ? known_stack_words(stack) : words;
	if (count < part->count && count)
		memcpy(words + count, known_stack_words(stack) + count,
		       (part->count - count) * sizeof(*words));
	for (uint32_t i = 0; i < count && !err; i++) {
		if (i && runtime_frame_is_same(&frames[i], &frames[i - 1]))
			words[i] = words[i - 1];
		else
			err = words_of(u, process, recipe, &frames[i], &memo, &words[i]);
	}
	return err;
}

/*
 * Returns true if the last frame is the outermost one. If no other frame says so, it has to be an
 * entry: CPython takes the link to its caller from a generator while it leaves it.
 */
static bool is_whole(const struct runtime_recipe *recipe, const struct jitbpf_runtime_frames *part)
{
	return part->end == JITBPF_RUNTIME_ROOT &&
	       (recipe->last_mask || !part->count || part->frames[part->count - 1].check & 1);
}

struct sampled_process {
	const struct process *process;
	uint64_t time_ns;
	const struct module_table *modules;
};

static bool switches_stacks(const void *sampled_, uint64_t address)
{
	const struct sampled_process *sampled = sampled_;
	struct code_site site = code_site_at(sampled->process, address, sampled->time_ns);
	const struct module *module = site.kind == LOCATION_NATIVE
					      ? module_table_get(sampled->modules, site.module)
					      : NULL;

	return module && module->file.switches_stacks;
}

static bool is_unknown_code(const void *sampled_, uint64_t address)
{
	const struct sampled_process *sampled = sampled_;

	return code_site_at(sampled->process, address, sampled->time_ns).kind == LOCATION_ANON;
}

int unwinder_runtime_merge(struct unwinder *u, const struct process *process,
			   const struct jitbpf_sample *sample, const struct finished_stack *stack,
			   struct merged_stack *ret)
{
	const struct sampled_process sampled = {process, sample->h.time_ns, u->modules};
	const struct native_stack native = {
		.addresses = stack->words,
		.count = stack->count,
		.walked = sample->user_words,
		.frame_pointers = stack->frame_pointers,
		.whole = stack->end == JITBPF_END_ROOT,
		.doubtful = stack->replaced || stack->untold,
		.is_unknown = is_unknown_code,
		.switches = process->switches_stacks ? switches_stacks : NULL,
		.context = &sampled,
	};
	const struct jitbpf_runtime_frames *part;
	struct shared_recipe *recipe =
		unwind_has_recipes(u) ? runtime_recipe_of(u, process, sample, &part) : NULL;
	const struct runtime_words *words;
	struct runtime_stack runtime;
	int err = 0;

	if (!recipe || recipe->expected)
		return 0;
	err = find_words(u, process, recipe, sample, part, &words);
	if (err)
		return err;
	runtime = (struct runtime_stack){
		.recipe = &recipe->known.recipe,
		.own = recipe->own,
		.frames = part->frames,
		.words = words,
		.count = part->count,
		.whole = is_whole(&recipe->known.recipe, part),
		.flags = part->flags,
	};
	if (recipe->known.recipe.native.range_count)
		runtime_merge_native(&native, &runtime, ret);
	else
		runtime_merge(&native, &runtime, ret);
	return 1;
}
