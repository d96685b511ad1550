/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/unwinder_runtimes.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "decode/record/sample_parts.h"
#include "unwind/unwinder_functions.h"
#include "unwind/unwinder_runtimes_state.h"

struct shared_recipe *runtime_recipe_of(struct unwinder *u, const struct process *process,
					const struct jitbpf_sample *sample,
					const struct jitbpf_runtime_frames **ret)
{
	const struct recipe_process *one = runtime_recipes_find(&u->recipes, process);
	bool is_present =
		sample->h.time_ns >= process->program_ns && process->exit_ns == UINT64_MAX;

	*ret = sample_runtime_frames(sample);
	if (!*ret || (is_present && (!one || (*ret)->recipe < one->first)))
		return NULL;
	return shared_recipes_get(&u->recipes.shared, (*ret)->recipe);
}

static struct runtime_function_key key_of(const struct shared_recipe *recipe, uint32_t uid,
					  uint64_t object, uint64_t owner, uint64_t check)
{
	const struct runtime_reader *reader = recipe->known.reader;

	return (struct runtime_function_key){
		.recipe = recipe->number,
		.uid = uid,
		.object = reader && reader->has_copies ? 0 : object,
		/* That of a native frame says where the frame is. */
		.owner = recipe->known.recipe.native.range_count ? 0 : owner,
		.check = check & ~1ull,
	};
}

uint64_t runtime_scope_of(const struct shared_recipe *recipe, const struct process *process)
{
	return runtime_function_scope(recipe->number, process->owner.uid);
}

bool runtime_frame_can_be_read(const struct runtime_frame *frame)
{
	return frame->function && frame->check & ~1ull;
}

static int ask_function(struct unwinder *u, const struct process *process,
			struct shared_recipe *recipe, uint64_t object, struct sampled_function *one)
{
	const struct unwind_request request = {
		.kind = UNWIND_RUNTIME_FUNCTION,
		.pid = process->pid,
		.owner = process_owner_key(&process->owner),
		.function = {.known = &recipe->known,
			     .object = object,
			     .function_owner = one->key.owner,
			     .check = one->key.check,
			     .uid = one->key.uid},
	};
	int err = unwind_ask(u, &request);

	if (err)
		return err;
	recipe->pending++;
	one->pending = true;
	one->object = object;
	u->functions_found = u->functions_found || !one->tries;
	return 0;
}

static struct sampled_function **memo_slot(struct function_memo *memo,
					   const struct runtime_frame *frame)
{
	return &memo->functions[(frame->function >> 4 ^ frame->function >> 9) % MEMO_SLOTS];
}

int runtime_get_function(struct unwinder *u, const struct process *process,
			 const struct shared_recipe *recipe, const struct runtime_frame *frame,
			 struct function_memo *memo, struct sampled_function **ret)
{
	const struct runtime_function_key key =
		key_of(recipe, process->owner.uid, frame->function, frame->owner, frame->check);
	struct sampled_function **slot = memo_slot(memo, frame), *one = *slot;
	int err = 0;

	if (!one || one->key.object != key.object || one->key.owner != key.owner ||
	    one->key.check != key.check)
		one = sampled_functions_find(&u->functions, &key);
	if (!one)
		err = sampled_functions_add(&u->functions, &key, process_owner_key(&process->owner),
					    u->known_ns, &one);
	if (err)
		one = NULL;
	else
		one->used_ns = u->known_ns;
	*ret = *slot = one;
	return err == -EDQUOT ? 0 : err;
}

/*
 * Request a function if that is due. Returns 0 or -ENOMEM. *ret_waits: it is pending, or there is
 * no room for the request yet.
 */
static int want_function(struct unwinder *u, const struct process *process,
			 struct shared_recipe *recipe, uint64_t object,
			 struct sampled_function *one, bool *ret_waits)
{
	const struct unwind_account account = {.unwinder = u, .process = process};
	int err = 0;

	*ret_waits = one->pending;
	if (process->exit_ns == UINT64_MAX && sampled_function_is_due(one, object, u->known_ns)) {
		*ret_waits = true;
		if (unwind_may_ask(&account, UNWIND_ASKED_MAX))
			err = ask_function(u, process, recipe, object, one);
	}
	return err;
}

bool runtime_frame_is_same(const struct runtime_frame *a, const struct runtime_frame *b)
{
	return a->function == b->function && a->position == b->position && a->check == b->check &&
	       a->owner == b->owner;
}

bool runtime_frame_is_mark(const struct runtime_frame *frame)
{
	return !frame->function && frame->check & 1;
}

/* Returns true for a native frame that is known to hold no function. */
static bool runtime_frame_is_none(const struct runtime_frame *frame)
{
	return !frame->function && frame->check == RUNTIME_NATIVE_NONE;
}

struct runtime_words runtime_named_words(const struct sampled_function *one,
					 const struct runtime_frame *frame)
{
	return (struct runtime_words){
		.function = RUNTIME_WORD(one->name->number),
		.position =
			frame->position ? runtime_function_line(&one->lines, frame->position) : 0,
	};
}

/*
 * Request all functions of a sample that are due, but those of outer frames that the thread had
 * before. Returns 0 with the key of one that is pending, or 0 in it, or -ENOMEM.
 */
static int want_functions(struct unwinder *u, const struct process *process,
			  struct shared_recipe *recipe, const struct jitbpf_sample *sample,
			  const struct jitbpf_runtime_frames *part, uint64_t *ret_key)
{
	struct known_stack *stack = known_stacks_of(&u->known_stacks, sample->tid);
	struct function_memo memo = {0};
	struct runtime_words *words;
	uint32_t count, unknown = 0; /* frames up to the outermost one without words */
	int err = 0;

	*ret_key = 0;
	if (!stack)
		return -ENOMEM;
	count = known_stack_set(stack, runtime_scope_of(recipe, process), part, u->known_ns);
	words = known_stack_words(stack);
	for (uint32_t i = 0; i < count && !err; i++) {
		const struct runtime_frame *frame = &part->frames[i];
		struct sampled_function *one = NULL;
		bool waits = false;

		if (i && runtime_frame_is_same(frame, frame - 1)) {
			words[i] = words[i - 1];
			unknown += unknown == i;
			continue;
		}
		if (runtime_frame_can_be_read(frame))
			err = runtime_get_function(u, process, recipe, frame, &memo, &one);
		if (!err && one)
			err = want_function(u, process, recipe, part->frames[i].function, one,
					    &waits);
		if (waits && !*ret_key)
			*ret_key = one->pending ? runtime_function_wait_key(&one->key)
						: unwind_key(UNWIND_KEY_ROOM, 0, 0);
		if (one && one->name)
			words[i] = runtime_named_words(one, frame);
		else if (runtime_frame_is_mark(frame) || runtime_frame_is_none(frame))
			words[i] = (struct runtime_words){0, 0};
		else
			unknown = i + 1;
	}
	stack->known = err ? 0 : part->count - unknown;
	return err;
}

int unwinder_runtime_sampled(struct unwinder *u, const struct process *process,
			     const struct jitbpf_sample *sample)
{
	const struct jitbpf_runtime_frames *part;
	struct shared_recipe *recipe;
	uint64_t key = 0;
	int err;

	if (!unwind_has_recipes(u) ||
	    (!process->runtimes.count && !(sample->h.flags & JITBPF_SAMPLE_RUNTIME_FRAMES) &&
	     program_runtimes_is_plain(&u->recipes.programs, process)))
		return 0;
	err = unwind_want_recipe(u, process, sample);
	recipe = runtime_recipe_of(u, process, sample, &part);
	if (recipe && !err)
		err = want_functions(u, process, recipe, sample, part, &key);
	/* Most samples need nothing: they are not looked at again. */
	u->ready = key || (recipe && recipe->expected) ? NULL : sample;
	u->ready_ns = sample->h.time_ns;
	return err;
}

uint64_t unwinder_runtime_awaits(struct unwinder *u, const struct process *process,
				 const struct jitbpf_sample *sample)
{
	const struct jitbpf_runtime_frames *part;
	struct shared_recipe *recipe;
	uint64_t key = 0;

	if (!unwind_has_recipes(u) || (u->ready == sample && u->ready_ns == sample->h.time_ns))
		return 0;
	recipe = runtime_recipe_of(u, process, sample, &part);
	if (recipe && want_functions(u, process, recipe, sample, part, &key))
		return 0;
	if (recipe && recipe->expected && recipe->processes)
		key = shared_recipe_wait_key(recipe);
	return key;
}

/* Learn the functions of which one that was read makes copies. Returns 0 or -ENOMEM. */
static int take_copied(struct unwinder *u, const struct unwind_answer *answer,
		       const struct shared_recipe *recipe, uint64_t maker)
{
	vec_for_each (function, &answer->function->copied) {
		const struct runtime_function_key key =
			key_of(recipe, answer->request.function.uid, 0, 0, function->check);
		struct sampled_function *one = sampled_functions_find(&u->functions, &key);
		int err = 0;

		if (!one)
			err = sampled_functions_add(&u->functions, &key, answer->request.owner,
						    u->known_ns, &one);
		err = err
			      ?: sampled_functions_put(&u->functions, one, recipe->engine,
						       answer->request.pid, function);
		if (err == -EDQUOT)
			return 0;
		if (err)
			return err;
		if (key.check != maker)
			one->maker = maker;
		unwind_wake(&u->woken, runtime_function_wait_key(&key));
	}
	return 0;
}

/* The function was read. Another check: it is of another function that is there by now. */
int unwind_take_function(struct unwinder *u, const struct unwind_answer *answer)
{
	const struct unwind_function_request *request = &answer->request.function;
	struct shared_recipe *recipe =
		(struct shared_recipe *)((char *)request->known -
					 offsetof(struct shared_recipe, known));
	const struct runtime_function_key key = key_of(recipe, request->uid, request->object,
						       request->function_owner, request->check);
	struct sampled_function *one = sampled_functions_find(&u->functions, &key);
	int err = 0;

	recipe->pending--;
	if (!one)
		return 0;
	one->pending = false;
	one->tries++;
	one->tried_ns = u->known_ns;
	if (!answer->error && answer->function && answer->function->check == key.check) {
		err = sampled_functions_put(&u->functions, one, recipe->engine, answer->request.pid,
					    answer->function);
		err = err ?: take_copied(u, answer, recipe, key.check);
	}
	unwind_wake(&u->woken, runtime_function_wait_key(&key));
	return err == -EDQUOT ? 0 : err;
}

const struct runtime_name *unwinder_take_function(struct unwinder *u)
{
	return runtime_names_take(&u->functions.names);
}
