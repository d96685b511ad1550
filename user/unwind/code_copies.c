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

const struct code_copy *code_copies_find(struct code_copies *copies, uint64_t identity)
{
	struct code_copy *copy = find(copies, identity);

	if (copy)
		copy->used = true;
	return copy;
}

static int insert(struct code_copies *copies, const struct code_copy *copy)
{
	uint32_t slot = (uint32_t)(copies->newest % CODE_COPIES_MAX);
	int err = index_map_insert(&copies->index, hash_of(copy->identity), slot);

	if (err)
		return err;
	copies->slots[slot] = *copy;
	copies->bytes += copy->room;
	copies->newest++;
	return 0;
}

/* Evict the oldest copy, or make it the newest one if it was used. */
static void pass_oldest(struct code_copies *copies)
{
	uint32_t slot = (uint32_t)(copies->oldest++ % CODE_COPIES_MAX);
	struct code_copy copy = copies->slots[slot];

	index_map_remove(&copies->index, hash_of(copy.identity), slot);
	copies->bytes -= copy.room;
	if (copy.used) {
		copy.used = false;
		if (!insert(copies, &copy))
			return;
	}
	free(copy.bytes);
}

static struct code_copy *begin(struct code_copies *copies, uint64_t identity, uint64_t size_bytes)
{
	uint32_t room =
		size_bytes < JITBPF_CODE_COPY_MAX ? (uint32_t)size_bytes : JITBPF_CODE_COPY_MAX;
	struct code_copy copy = {.identity = identity, .bytes = malloc(room), .room = room};

	while (copies->newest - copies->oldest == CODE_COPIES_MAX ||
	       copies->bytes + room > CODE_COPIES_BYTES_MAX)
		pass_oldest(copies);
	if (!copy.bytes || insert(copies, &copy)) {
		free(copy.bytes);
		return NULL;
	}
	return &copies->slots[(copies->newest - 1) % CODE_COPIES_MAX];
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

void code_copies_put(struct code_copies *copies, uint64_t identity, const uint8_t *bytes,
		     size_t size_bytes)
{
	struct code_copy *copy = find(copies, identity);

	/* Code of more bytes than were read stays as it was behind them. */
	if (!copy)
		copy = begin(copies, identity, size_bytes);
	if (!copy)
		return;
	if (size_bytes > copy->room)
		size_bytes = copy->room;
	memcpy(copy->bytes, bytes, size_bytes);
	if (copy->size_bytes < size_bytes)
		copy->size_bytes = (uint32_t)size_bytes;
}
