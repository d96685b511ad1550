/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code/found_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct place_key {
	const struct process *process;
	uint64_t address;
};

int found_code_init(struct found_code *found)
{
	*found = (struct found_code){.places = calloc(FOUND_PLACES_MAX, sizeof(*found->places))};
	found_pieces_init(&found->pieces);
	if (found->places && !owner_slots_init(&found->owners, FOUND_PLACES_MAX))
		return 0;
	found_code_deinit(found);
	return -ENOMEM;
}

void found_code_deinit(struct found_code *found)
{
	for (size_t i = found->news_taken; i < found->news.size; i++)
		runtime_code_deinit(&found->news.data[i].code);
	vec_deinit(&found->news);
	found_pieces_deinit(&found->pieces);
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

int found_code_keep(struct found_code *found, const struct found_news *news)
{
	const struct found_piece piece = {
		.start = news->code.start,
		.size_bytes = news->code.size_bytes,
		.found_ns = news->found_ns,
		.identity = news->code.identity,
	};

	return found_pieces_keep(&found->pieces, news->process, &piece);
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
	found_pieces_forget_retired(&found->pieces);
	for (size_t i = found->news_taken; i < found->news.size; i++) {
		struct found_news *news = &found->news.data[i];

		if (news->process && !news->process->mappings)
			news->process = NULL;
	}
}
