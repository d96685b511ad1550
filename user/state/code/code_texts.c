/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/code/code_texts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define CAPACITY_MIN 16
#define PROBES	     8 /* slots in which texts can be */

struct code_shared_texts {
	uint32_t refs;
	uint32_t hash;
	uint32_t size_bytes;
	char bytes[];
};

static const char no_texts[] = CODE_NO_TEXTS;

#define SLOT_BYTES (2 * sizeof(void *)) /* on average: the table is between 3/8 and 3/4 full */

/* What the allocator takes for them, too. */
static uint64_t memory_of(uint64_t bytes)
{
	bytes += sizeof(struct code_shared_texts) + sizeof(size_t);
	return (bytes + 15) / 16 * 16 + SLOT_BYTES;
}

size_t code_string_length(const struct code_string *string)
{
	return string->bytes ? strnlen(string->bytes, string->size_bytes) : 0;
}

static uint64_t bytes_of(const struct code_string texts[CODE_TEXTS])
{
	uint64_t bytes = CODE_TEXTS;

	for (int i = 0; i < CODE_TEXTS; i++)
		bytes += code_string_length(&texts[i]);
	return bytes;
}

static uint32_t hash_of(const struct code_string texts[CODE_TEXTS])
{
	uint64_t hash = 0;

	for (int i = 0; i < CODE_TEXTS; i++)
		hash = hash_bytes(texts[i].bytes, code_string_length(&texts[i]), hash);
	return (uint32_t)(hash ^ hash >> 32);
}

static bool equal(const struct code_shared_texts *shared,
		  const struct code_string texts[CODE_TEXTS])
{
	const char *at = shared->bytes;

	for (int i = 0; i < CODE_TEXTS; i++) {
		size_t length = code_string_length(&texts[i]);

		if (strlen(at) != length || (length && memcmp(at, texts[i].bytes, length) != 0))
			return false;
		at += length + 1;
	}
	return true;
}

/* Returns a slot of a set in which texts with a hash can be. */
static struct code_shared_texts **slot_of(const struct code_text_set *set, uint32_t hash,
					  uint32_t probe)
{
	return &set->slots[(hash + probe) & (set->capacity - 1)];
}

static struct code_shared_texts *find(const struct code_text_set *set,
				      const struct code_string texts[CODE_TEXTS])
{
	uint32_t hash = hash_of(texts);

	for (uint32_t i = 0; i < PROBES && set->capacity; i++) {
		struct code_shared_texts *shared = *slot_of(set, hash, i);

		if (shared && shared->hash == hash && equal(shared, texts))
			return shared;
	}
	return NULL;
}

/* Texts that have no slot of their own replace others, which are not found any more. */
static void enter(struct code_text_set *set, struct code_shared_texts *shared)
{
	struct code_shared_texts **slot = slot_of(set, shared->hash, 0);

	for (uint32_t i = 0; i < PROBES; i++) {
		struct code_shared_texts **at = slot_of(set, shared->hash, i);

		if (*at)
			continue;
		*at = shared;
		set->size++;
		return;
	}
	*slot = shared;
}

static void leave(struct code_text_set *set, const struct code_shared_texts *shared)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		struct code_shared_texts **at = slot_of(set, shared->hash, i);

		if (*at != shared)
			continue;
		*at = NULL;
		set->size--;
		return;
	}
}

static int reserve(struct code_text_set *set)
{
	struct code_text_set grown = {.capacity = set->capacity ? 2 * set->capacity : CAPACITY_MIN};

	if (set->size + 1 <= set->capacity / 4 * 3)
		return 0;
	grown.slots = grown.capacity ? calloc(grown.capacity, sizeof(*grown.slots)) : NULL;
	if (!grown.slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < set->capacity; i++) {
		if (set->slots[i])
			enter(&grown, set->slots[i]);
	}
	free(set->slots);
	*set = grown;
	return 0;
}

uint64_t code_texts_needed(const struct code_text_set *set,
			   const struct code_string texts[CODE_TEXTS], uint64_t *ret_bytes)
{
	uint64_t bytes = bytes_of(texts);

	*ret_bytes = 0;
	if (bytes == CODE_TEXTS || find(set, texts))
		return 0;
	*ret_bytes = bytes;
	return memory_of(bytes);
}

static int add(struct code_text_set *set, const struct code_string texts[CODE_TEXTS],
	       struct code_shared_texts **ret)
{
	uint64_t bytes = bytes_of(texts);
	struct code_shared_texts *shared;
	char *at;

	if (bytes > UINT32_MAX || reserve(set))
		return -ENOMEM;
	shared = malloc(sizeof(*shared) + bytes);
	if (!shared)
		return -ENOMEM;
	*shared = (struct code_shared_texts){.hash = hash_of(texts), .size_bytes = (uint32_t)bytes};
	at = shared->bytes;
	for (int i = 0; i < CODE_TEXTS; i++) {
		size_t length = code_string_length(&texts[i]);

		if (length)
			memcpy(at, texts[i].bytes, length);
		at[length] = 0;
		at += length + 1;
	}
	enter(set, shared);
	*ret = shared;
	return 0;
}

int code_texts_get(struct code_text_set *set, const struct code_string texts[CODE_TEXTS],
		   const char **ret)
{
	struct code_shared_texts *shared;
	int err = 0;

	if (bytes_of(texts) == CODE_TEXTS) {
		*ret = no_texts;
		return 0;
	}
	shared = find(set, texts);
	if (!shared)
		err = add(set, texts, &shared);
	if (err)
		return err;
	shared->refs++;
	*ret = shared->bytes;
	return 0;
}

uint64_t code_texts_put(struct code_text_set *set, const char *texts, uint64_t *ret_bytes)
{
	struct code_shared_texts *shared;

	*ret_bytes = 0;
	if (texts == no_texts)
		return 0;
	shared = (void *)(texts - offsetof(struct code_shared_texts, bytes));
	if (--shared->refs)
		return 0;
	*ret_bytes = shared->size_bytes;
	leave(set, shared);
	free(shared);
	return memory_of(*ret_bytes);
}

void code_text_set_deinit(struct code_text_set *set)
{
	free(set->slots);
	*set = (struct code_text_set){0};
}
