/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code/found_pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

void found_pieces_init(struct found_pieces *found)
{
	*found = (struct found_pieces){.budget.limit = FOUND_PIECES_MAX};
}

static void drop_process(struct found_pieces *found, size_t slot)
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

void found_pieces_deinit(struct found_pieces *found)
{
	for (size_t i = 0; i < found->by_slot.size; i++) {
		if (found->by_slot.data[i])
			drop_process(found, i);
	}
	vec_deinit(&found->by_slot);
	owner_budget_deinit(&found->budget);
}

static bool piece_equal(const void *pieces, uint32_t item, const void *start)
{
	return ((const struct found_piece *)pieces)[item].start == *(const uint64_t *)start;
}

static struct found_process *process_of(const struct found_pieces *found,
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

static int add_process(struct found_pieces *found, const struct process *process,
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

int found_pieces_keep(struct found_pieces *found, const struct process *process,
		      const struct found_piece *piece)
{
	struct found_process *one = process_of(found, process);
	struct found_piece *known;
	uint32_t item;
	int err = one ? 0 : add_process(found, process, &one);

	if (err)
		return err;
	known = piece_of(one, piece->start);
	if (known) {
		*known = *piece;
		return 0;
	}
	err = owner_budget_charge(&found->budget, one->owner, 1);
	if (err)
		return err;
	err = make_room(one, &item);
	if (!err) {
		one->pieces.data[item] = *piece;
		err = index_map_insert(&one->index, hash_mix(piece->start, 0), item);
		if (err)
			one->vacant.data[one->vacant.size++] = item;
	}
	if (err)
		owner_budget_release(&found->budget, one->owner, 1);
	return err;
}

const struct found_piece *found_pieces_at(const struct found_pieces *found,
					  const struct process *process, uint64_t start)
{
	const struct found_process *one = process_of(found, process);

	return one ? piece_of(one, start) : NULL;
}

void found_pieces_end(struct found_pieces *found, const struct process *process, uint64_t start)
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

void found_pieces_forget_retired(struct found_pieces *found)
{
	for (size_t i = 0; i < found->by_slot.size; i++) {
		if (found->by_slot.data[i] && !found->by_slot.data[i]->process->mappings)
			drop_process(found, i);
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
