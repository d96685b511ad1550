/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code_copies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

int code_copies_init(struct code_copies *copies)
{
	*copies = (struct code_copies){
		.slots = calloc(CODE_COPIES_MAX, sizeof(*copies->slots)),
	};
	return copies->slots ? 0 : -ENOMEM;
}

void code_copies_deinit(struct code_copies *copies)
{
	for (uint64_t i = copies->oldest; i < copies->newest; i++)
		free(copies->slots[i % CODE_COPIES_MAX].bytes);
	free(copies->slots);
	index_map_deinit(&copies->index);
}

static uint64_t hash_of(uint64_t identity)
{
	return hash_mix(identity, 1);
}

static bool equal(const void *items, uint32_t item, const void *key)
{
	return ((const struct code_copy *)items)[item].identity == *(const uint64_t *)key;
}

static struct code_copy *find(const struct code_copies *copies, uint64_t identity)
{
	uint32_t slot =
		index_map_find(&copies->index, hash_of(identity), equal, copies->slots, &identity);

	return slot == INDEX_MAP_NONE ? NULL : &copies->slots[slot];
}

const struct code_copy *code_copies_find(const struct code_copies *copies, uint64_t identity)
{
	return find(copies, identity);
}

uint8_t *code_copies_take(struct code_copies *copies, const struct code_copy *copy)
{
	uint32_t slot = (uint32_t)(copy - copies->slots);
	uint8_t *bytes = copy->bytes;

	index_map_remove(&copies->index, hash_of(copy->identity), slot);
	copies->bytes -= copy->room;
	copies->slots[slot].bytes = NULL;
	return bytes;
}

/* Evict the oldest copy. A slot emptied by code_copies_take() is only skipped. */
static void forget_oldest(struct code_copies *copies)
{
	const struct code_copy *oldest = &copies->slots[copies->oldest++ % CODE_COPIES_MAX];

	if (oldest->bytes)
		free(code_copies_take(copies, oldest));
}

static struct code_copy *begin(struct code_copies *copies, uint64_t identity, uint64_t size_bytes)
{
	uint32_t room =
		size_bytes < JITBPF_CODE_COPY_MAX ? (uint32_t)size_bytes : JITBPF_CODE_COPY_MAX;
	uint32_t slot = (uint32_t)(copies->newest % CODE_COPIES_MAX);
	uint8_t *bytes;

	while (copies->newest - copies->oldest == CODE_COPIES_MAX ||
	       copies->bytes + room > CODE_COPIES_BYTES_MAX)
		forget_oldest(copies);
	bytes = malloc(room);
	if (!bytes || index_map_insert(&copies->index, hash_of(identity), slot)) {
		free(bytes);
		return NULL;
	}
	copies->slots[slot] =
		(struct code_copy){.identity = identity, .bytes = bytes, .room = room};
	copies->bytes += room;
	copies->newest++;
	return &copies->slots[slot];
}

void code_copies_add(struct code_copies *copies, uint64_t identity, const struct jitbpf_code *piece)
{
	uint32_t size_bytes = piece->h.size_bytes - (uint32_t)sizeof(*piece);
	struct code_copy *copy = find(copies, identity);

	if (!copy && !piece->offset)
		copy = begin(copies, identity, piece->size_bytes);
	if (!copy || piece->offset != copy->size_bytes ||
	    size_bytes > copy->room - copy->size_bytes)
		return;
	memcpy(copy->bytes + copy->size_bytes, piece->data, size_bytes);
	copy->size_bytes += size_bytes;
}
