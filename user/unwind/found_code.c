/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/found_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* --- places ---------------------------------------------------------------------------- */

struct place_key {
	const struct process *process;
	uint64_t address;
};

int found_code_init(struct found_code *found)
{
	*found = (struct found_code){.places = calloc(FOUND_PLACES_MAX, sizeof(*found->places))};
	found->budget.limit = FOUND_PIECES_MAX;
	if (found->places && !owner_slots_init(&found->owners, FOUND_PLACES_MAX))
		return 0;
	found_code_deinit(found);
	return -ENOMEM;
}

static void drop_process(struct found_code *found, size_t slot)
{
	struct found_process *one = found->by_slot.data[slot];

	found->by_slot.data[slot] = NULL;
	owner_budget_release(&found->budget, one->owner, one->pieces.size - one->vacant.size);
	owner_budget_put(&found->budget, one->owner);
	index_map_deinit(&one->index);
	vec_deinit(&one->pieces);
	vec_deinit(&one->vacant);
	free(one);
}

void found_code_deinit(struct found_code *found)
{
	for (size_t i = 0; i < found->by_slot.size; i++) {
		if (found->by_slot.data[i])
			drop_process(found, i);
	}
	for (size_t i = found->news_taken; i < found->news.size; i++)
		runtime_code_deinit(&found->news.data[i].code);
	vec_deinit(&found->by_slot);
	vec_deinit(&found->news);
	owner_budget_deinit(&found->budget);
	owner_slots_deinit(&found->owners);
	index_map_deinit(&found->index);
	free(found->places);
	found->places = NULL;
}

static uint64_t hash_of(const struct process *process, uint64_t address)
{
	return hash_mix(address, process->number << 1 | 1);
}

uint64_t found_code_key(const struct process *process, uint64_t address)
{
	return unwind_key(UNWIND_KEY_CODE, process->number, address);
}

static bool equal(const void *places, uint32_t slot, const void *key_)
{
	const struct found_place *place = (const struct found_place *)places + slot;
	const struct place_key *key = key_;

	return place->process == key->process && place->address == key->address;
}

static uint32_t slot_of(const struct found_code *found, const struct process *process,
			uint64_t address)
{
	struct place_key key = {process, address};

	return index_map_find(&found->index, hash_of(process, address), equal, found->places, &key);
}

enum found_state found_code_at(const struct found_code *found, const struct process *process,
			       uint64_t address)
{
	uint32_t slot = slot_of(found, process, address);
	const struct found_place *place;

	if (slot == INDEX_MAP_NONE)
		return FOUND_NEW;
	place = &found->places[slot];
	if (place->asked)
		return FOUND_WAITS;
	if (found->now_ns < place->none_until_ns)
		return FOUND_NONE;
	return place->tries >= FOUND_TRIES && found->now_ns < place->second_ns + FOUND_SECOND_NS
		       ? FOUND_NONE
		       : FOUND_NEW;
}

/* Remove the place of a slot from the index. */
static void forget(struct found_code *found, uint32_t slot)
{
	struct found_place *place = &found->places[slot];

	if (!place->process)
		return;
	index_map_remove(&found->index, hash_of(place->process, place->address), slot);
	place->process = NULL;
}

static void evict(void *found, uint32_t slot)
{
	forget(found, slot);
}

/* Returns 0, -EBUSY or -ENOMEM. */
static int add_place(struct found_code *found, const struct process *process, uint64_t address,
		     uint32_t *ret)
{
	int err = owner_slots_take(&found->owners, process_owner_key(&process->owner), evict, found,
				   ret);

	if (err)
		return err;
	err = index_map_insert(&found->index, hash_of(process, address), *ret);
	if (err) {
		owner_slots_release(&found->owners, *ret);
		return err;
	}
	found->places[*ret] = (struct found_place){.process = process, .address = address};
	return 0;
}

int found_code_asked(struct found_code *found, const struct process *process, uint64_t address,
		     uint32_t *ret_number)
{
	uint32_t slot = slot_of(found, process, address);
	struct found_place *place;
	int err = slot == INDEX_MAP_NONE ? add_place(found, process, address, &slot) : 0;

	err = err ?: owner_slots_hold(&found->owners, slot);
	if (err)
		return err == -EDQUOT ? -EBUSY : err;
	place = &found->places[slot];
	if (found->now_ns >= place->second_ns + FOUND_SECOND_NS) {
		place->second_ns = found->now_ns;
		place->tries = 0;
	}
	place->tries++;
	place->asked = true;
	*ret_number = slot;
	return 0;
}

/* The request of a place has ended, and what it has found is reported. */
static void settle(struct found_code *found, uint32_t slot)
{
	struct found_place *place = &found->places[slot];

	place->asked = false;
	if (place->process) {
		unwind_wake(found->woken, found_code_key(place->process, place->address));
		owner_slots_let_go(&found->owners, slot);
	} else {
		owner_slots_release(&found->owners, slot);
	}
}

void found_code_drop_request(struct found_code *found, uint32_t number)
{
	settle(found, number);
}

/* --- what was found -------------------------------------------------------------------- */

int found_code_take(struct found_code *found, const struct unwind_answer *answer)
{
	const struct unwind_find_request *request = &answer->request.find;
	struct found_place *place = &found->places[request->number];
	const struct process *process = place->process;
	int err;

	if (!process || !answer->code) {
		/* Code that changes, or memory that is slow, may be found soon. */
		if (answer->error != -EAGAIN && answer->error != -ETIMEDOUT)
			place->none_until_ns = found->now_ns + FOUND_NONE_NS;
		settle(found, request->number);
		return 0;
	}
	err = vec_push(&found->news, ((struct found_news){
					     .number = request->number,
					     .process = process,
					     .program_ns = process->program_ns,
					     .engine = request->known->reader->engine,
					     .found_ns = answer->found_ns,
					     .read_ns = answer->read_ns,
					     .code = *answer->code,
				     }));
	if (err)
		settle(found, request->number);
	else
		*answer->code = (struct runtime_code){0};
	return err;
}

/* A queue that is never empty keeps no more than twice what is in it. */
static void compact_news(struct found_code *found)
{
	size_t left = found->news.size - found->news_taken;

	if (found->news_taken <= left)
		return;
	if (left)
		memmove(found->news.data, found->news.data + found->news_taken,
			left * sizeof(*found->news.data));
	found->news.size = left;
	found->news_taken = 0;
}

bool found_code_next(struct found_code *found, struct found_news *ret)
{
	compact_news(found);
	while (found->news_taken < found->news.size) {
		struct found_news *news = &found->news.data[found->news_taken];

		if (news->process && news->read_ns > found->now_ns)
			return false;
		found->news_taken++;
		settle(found, news->number);
		if (news->process && news->process->exit_ns >= news->read_ns &&
		    news->process->program_ns == news->program_ns) {
			*ret = *news;
			return true;
		}
		runtime_code_deinit(&news->code);
	}
	return false;
}

void found_code_refuse(struct found_code *found, const struct found_news *news)
{
	found->places[news->number].none_until_ns = found->now_ns + FOUND_NONE_NS;
}

/* --- pieces ---------------------------------------------------------------------------- */

static bool piece_equal(const void *pieces, uint32_t item, const void *start)
{
	return ((const struct found_piece *)pieces)[item].start == *(const uint64_t *)start;
}

static struct found_process *process_of(const struct found_code *found,
					const struct process *process)
{
	struct found_process *one =
		process->slot < found->by_slot.size ? found->by_slot.data[process->slot] : NULL;

	return one && one->process == process && one->program_ns == process->program_ns ? one
											: NULL;
}

static struct found_piece *piece_of(const struct found_process *one, uint64_t start)
{
	uint32_t item = index_map_find(&one->index, hash_mix(start, 0), piece_equal,
				       one->pieces.data, &start);

	return item == INDEX_MAP_NONE ? NULL : &one->pieces.data[item];
}

static int add_process(struct found_code *found, const struct process *process,
		       struct found_process **ret)
{
	struct found_process *one;
	int err;

	while (found->by_slot.size <= process->slot) {
		if (vec_push(&found->by_slot, NULL))
			return -ENOMEM;
	}
	if (found->by_slot.data[process->slot])
		drop_process(found, process->slot);
	one = calloc(1, sizeof(*one));
	if (!one)
		return -ENOMEM;
	err = owner_budget_get(&found->budget, process_owner_key(&process->owner), &one->owner);
	if (err) {
		free(one);
		return err;
	}
	one->process = process;
	one->program_ns = process->program_ns;
	found->by_slot.data[process->slot] = one;
	*ret = one;
	return 0;
}

/* Returns 0 with room for one more piece at *ret, or -ENOMEM. */
static int make_room(struct found_process *one, uint32_t *ret)
{
	if (one->vacant.size) {
		*ret = one->vacant.data[--one->vacant.size];
		return 0;
	}
	/* A piece that ends needs no memory. */
	if (vec_reserve(&one->vacant, one->pieces.size + 1) ||
	    vec_push(&one->pieces, (struct found_piece){0}))
		return -ENOMEM;
	*ret = (uint32_t)one->pieces.size - 1;
	return 0;
}

int found_code_keep(struct found_code *found, const struct found_news *news)
{
	struct found_process *one = process_of(found, news->process);
	const struct found_piece piece = {
		.start = news->code.start,
		.size_bytes = news->code.size_bytes,
		.found_ns = news->found_ns,
		.identity = news->code.identity,
	};
	struct found_piece *known;
	uint32_t item;
	int err = one ? 0 : add_process(found, news->process, &one);

	if (err)
		return err;
	known = piece_of(one, piece.start);
	if (known) {
		*known = piece;
		return 0;
	}
	err = owner_budget_charge(&found->budget, one->owner, 1);
	if (err)
		return err;
	err = make_room(one, &item);
	if (!err) {
		one->pieces.data[item] = piece;
		err = index_map_insert(&one->index, hash_mix(piece.start, 0), item);
		if (err)
			one->vacant.data[one->vacant.size++] = item;
	}
	if (err)
		owner_budget_release(&found->budget, one->owner, 1);
	return err;
}

const struct found_piece *found_code_piece(const struct found_code *found,
					   const struct process *process, uint64_t start)
{
	const struct found_process *one = process_of(found, process);

	return one ? piece_of(one, start) : NULL;
}

void found_code_ended(struct found_code *found, const struct process *process, uint64_t start)
{
	struct found_process *one = process_of(found, process);
	struct found_piece *piece = one ? piece_of(one, start) : NULL;
	uint32_t item;

	if (!piece)
		return;
	item = (uint32_t)(piece - one->pieces.data);
	index_map_remove(&one->index, hash_mix(start, 0), item);
	*piece = (struct found_piece){0};
	one->vacant.data[one->vacant.size++] = item;
	owner_budget_release(&found->budget, one->owner, 1);
}

void found_code_forget_retired(struct found_code *found)
{
	for (uint32_t i = 0; found->index.size && i < FOUND_PLACES_MAX; i++) {
		struct found_place *place = &found->places[i];

		if (!place->process || place->process->mappings)
			continue;
		forget(found, i);
		if (!place->asked)
			owner_slots_release(&found->owners, i);
	}
	for (size_t i = 0; i < found->by_slot.size; i++) {
		if (found->by_slot.data[i] && !found->by_slot.data[i]->process->mappings)
			drop_process(found, i);
	}
	for (size_t i = found->news_taken; i < found->news.size; i++) {
		struct found_news *news = &found->news.data[i];

		if (news->process && !news->process->mappings)
			news->process = NULL;
	}
}

bool found_identity_is_used(const struct runtime_identity *identity)
{
	for (uint32_t i = 0; i < RUNTIME_IDENTITY_WORDS; i++) {
		if (identity->word[i].mask)
			return true;
	}
	return false;
}

bool found_identity_equal(const struct runtime_identity *a, const struct runtime_identity *b)
{
	return !memcmp(a, b, sizeof(*a));
}
