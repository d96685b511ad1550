/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The unwinder's part in code that nobody has reported (unwind/code/found_code.h). */
#include <errno.h>
#include <stddef.h>

#include "runtimes/runtime_readers.h"
#include "state/code/code_publisher.h"
#include "unwind/code/code_check_table.h"
#include "unwind/unwinder_found.h"

/* Returns true if the runtime of a process may be known soon, so that its code can be found. */
static bool is_awaited(const struct recipe_process *one)
{
	const struct runtime_reader *reader = one->engine ? runtime_reader_of(one->engine) : NULL;

	return reader && reader->code_at && one->process->exit_ns == UINT64_MAX &&
	       (one->recipe ? one->recipe->expected : one->wait != RUNTIME_RESTS);
}

/* Returns the recipe by which code of a process is found, or NULL. */
static struct shared_recipe *recipe_of(const struct recipe_process *one)
{
	struct shared_recipe *recipe = one->recipe;

	return recipe && !recipe->expected && recipe->known.reader &&
			       recipe->known.reader->code_at &&
			       one->process->exit_ns == UINT64_MAX &&
			       one->process->program_ns == one->program_ns
		       ? recipe
		       : NULL;
}

bool unwind_finds_code(const struct unwinder *u, const struct process *process)
{
	const struct recipe_process *one = runtime_recipes_find(&u->recipes, process);

	return one && (recipe_of(one) || is_awaited(one));
}

static int ask_code(const struct unwind_account *account, struct shared_recipe *recipe,
		    uint64_t address)
{
	const struct process *process = account->process;
	struct unwinder *u = account->unwinder;
	struct unwind_request request = {
		.kind = UNWIND_RUNTIME_CODE,
		.pid = process->pid,
		.owner = process_owner_key(&process->owner),
		.find = {.known = &recipe->known, .address = address},
	};
	int err = found_code_asked(&u->found, process, address, &request.find.number);

	if (err)
		return err;
	err = unwind_ask(u, &request);
	if (err)
		found_code_drop_request(&u->found, request.find.number);
	else
		recipe->pending++;
	return err;
}

int unwind_find_code(const struct unwind_account *account, uint64_t address)
{
	const uint64_t room = unwind_key(UNWIND_KEY_ROOM, 0, 0);
	struct unwinder *u = account->unwinder;
	struct recipe_process *one = runtime_recipes_find(&u->recipes, account->process);
	struct shared_recipe *recipe = one ? recipe_of(one) : NULL;
	enum found_state state;
	int err = 0;

	if (!recipe) {
		u->key = found_code_key(account->process, 0);
		return one && is_awaited(one) ? UNWIND_RULE_WAITS : 0;
	}
	u->key = found_code_key(account->process, address);
	state = found_code_at(&u->found, account->process, address);
	if (state == FOUND_NONE)
		return 0;
	if (state == FOUND_NEW && !unwind_may_ask(account, UNWIND_ASKED_MAX))
		err = -EBUSY;
	else if (state == FOUND_NEW)
		err = ask_code(account, recipe, address);
	if (err == -EBUSY)
		u->key = room;
	return err && err != -EBUSY ? err : UNWIND_RULE_WAITS;
}

int unwind_take_found(struct unwinder *u, const struct unwind_answer *answer)
{
	struct shared_recipe *recipe =
		(struct shared_recipe *)((char *)answer->request.find.known -
					 offsetof(struct shared_recipe, known));

	recipe->pending--;
	return found_code_take(&u->found, answer);
}

/*
 * Returns true if a publisher, or an earlier search, has reported code in the range of what was
 * found. Other code that was found there ends when it was there last.
 */
static bool is_known(struct unwinder *u, struct found_news *news)
{
	uint64_t start = news->code.start, end = start + news->code.size_bytes;
	const struct code_region *region = code_map_next(news->process->code, start);

	for (; region && region->address < end;
	     region = code_map_next(news->process->code, region->address + region->size_bytes)) {
		const struct found_piece *piece =
			found_pieces_at(&u->found.pieces, news->process, region->address);

		if (!code_publisher_of(region->claims[0].origin.publisher)->identified)
			return true;
		if (piece && region->address == start &&
		    region->size_bytes == news->code.size_bytes &&
		    found_identity_equal(&piece->identity, &news->code.identity))
			return true;
		code_checks_end_found(&u->checks, news->process, region);
		news->replaces = true;
	}
	return false;
}

/* Samples in code that can be replaced are checked from now on. Returns 0 or -ENOMEM. */
static int begin_checks(struct unwinder *u, const struct found_news *news)
{
	struct code_doubts *doubts;

	if (!found_identity_is_used(&news->code.identity))
		return 0;
	doubts = code_checks_add_doubts(&u->checks, news->process);
	if (!doubts)
		return -ENOMEM;
	doubts->has_found = true;
	return 0;
}

bool unwinder_take_found(struct unwinder *u, struct found_news *ret)
{
	while (found_code_next(&u->found, ret)) {
		if (ret->process->code && !is_known(u, ret) && !begin_checks(u, ret) &&
		    !found_code_keep(&u->found, ret))
			return true;
		found_code_refuse(&u->found, ret);
		runtime_code_deinit(&ret->code);
	}
	return false;
}
