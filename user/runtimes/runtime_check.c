/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/runtime_check.h"

#include <errno.h>
#include <string.h>

#define WORDS_MAX (RUNTIME_CHECK_BYTES_MAX / sizeof(uint64_t))

/* Fold what the chain of objects behind a function object says. */
static int fold_links(const struct process_memory *memory, const struct runtime_check *check,
		      uint64_t object, uint64_t *folded)
{
	uint64_t address = object, word;
	uint32_t kind;
	int err = 0;

	if (check->links_mask)
		err = process_memory_read(memory, object + (uint64_t)check->links_at, &kind,
					  sizeof(kind));
	if (err || (check->links_mask && (kind & check->links_mask) != check->links_value))
		return err;
	for (uint32_t i = 0; i < check->link_count; i++) {
		const struct runtime_check_link *link = &check->link[i];

		if (link->step != RUNTIME_NO_OFFSET)
			err = process_memory_word(memory, address + (uint64_t)link->step, &address);
		if (err)
			return err;
		if (link->folds_address)
			*folded = runtime_check_fold(*folded, address);
		if (!address)
			break;
		if (link->word_at == RUNTIME_NO_OFFSET)
			continue;
		err = process_memory_word(memory, address + (uint64_t)link->word_at, &word);
		if (err)
			return err;
		*folded = runtime_check_fold(*folded, word & link->word_mask);
	}
	return 0;
}

int runtime_check_read(const struct process_memory *memory, const struct runtime_check *check,
		       uint64_t object, bool is_native, uint64_t *ret)
{
	uint32_t word_count = is_native ? 0 : check->word_count;
	uint32_t name_count = is_native ? check->native_names : check->name_count;
	uint64_t words[WORDS_MAX], folded = RUNTIME_CHECK_BEGIN;
	int err;

	if (check->size_bytes > RUNTIME_CHECK_BYTES_MAX || check->size_bytes % sizeof(*words) ||
	    word_count > RUNTIME_CHECK_WORDS_MAX || name_count > RUNTIME_CHECK_NAMES_MAX ||
	    check->link_count > RUNTIME_CHECK_LINKS_MAX)
		return -EINVAL;
	err = process_memory_read(memory, object + (uint64_t)check->offset, words,
				  check->size_bytes);
	if (err)
		return err;
	for (uint32_t i = 0; i < check->size_bytes / sizeof(*words); i++)
		folded = runtime_check_fold(folded, words[i]);
	for (uint32_t i = 0; i < word_count && !err; i++) {
		err = process_memory_word(memory, object + (uint64_t)check->word[i], words);
		folded = runtime_check_fold(folded, words[0]);
	}
	for (uint32_t i = 0; i < name_count && !err; i++) {
		err = process_memory_word(memory, object + (uint64_t)check->name_at[i], words);
		if (!err && words[0])
			err = process_memory_word(memory, words[0] + (uint64_t)check->name_word[i],
						  words);
		folded = runtime_check_fold(folded, words[0]);
	}
	err = err ?: fold_links(memory, check, object, &folded);
	if (err)
		return err;
	*ret = folded & ~1ull;
	return 0;
}

int runtime_check_text(const struct process_memory *memory, const struct runtime_sections *sections,
		       uint64_t address, char ret[RUNTIME_OBJECT_BYTES_MAX], uint64_t *ret_check)
{
	uint64_t folded = RUNTIME_CHECK_BEGIN, word;
	size_t bytes = 0;
	char *end = NULL;

	memset(ret, 0, RUNTIME_OBJECT_BYTES_MAX);
	/* Words that are aligned do not reach into a page without a part of the text. */
	while (!end) {
		size_t piece = sizeof(word) - (address + bytes) % sizeof(word);
		int err;

		if (bytes >= RUNTIME_TEXT_BYTES_MAX)
			return -EBADMSG;
		err = process_memory_read(memory, address + bytes, ret + bytes, piece);
		if (err)
			return err;
		end = memchr(ret + bytes, '\0', piece);
		bytes += piece;
	}
	bytes = (size_t)(end + 1 - ret);
	if (bytes > RUNTIME_TEXT_BYTES_MAX)
		return -EBADMSG;
	memset(end, 0, (size_t)(ret + RUNTIME_OBJECT_BYTES_MAX - end));
	memcpy(&word, ret, sizeof(word));
	if (sections->text_mask && (word & sections->text_mask) == sections->text_value) {
		*ret_check = runtime_check_fold(folded, word & sections->text_mask) & ~1ull;
		return 0;
	}
	for (size_t i = 0; i < RUNTIME_OBJECT_BYTES_MAX; i += sizeof(word)) {
		memcpy(&word, ret + i, sizeof(word));
		folded = runtime_check_fold(folded, word);
	}
	*ret_check = folded & ~1ull;
	return 0;
}

int runtime_check_add_owner(const struct process_memory *memory, const struct runtime_owner *owner,
			    uint64_t address, uint64_t *check)
{
	uint64_t words[RUNTIME_OWNER_BYTES_MAX / sizeof(uint64_t)], folded = *check;
	int err;

	if (!address)
		return 0;
	if (owner->check_bytes > RUNTIME_OWNER_BYTES_MAX)
		return -EINVAL;
	err = process_memory_read(memory, address + (uint64_t)owner->check_offset, words,
				  owner->check_bytes);
	if (err)
		return err;
	for (uint32_t i = 0; i < owner->check_bytes / sizeof(*words); i++)
		folded = runtime_check_fold(folded, words[i]);
	*check = folded & ~1ull;
	return 0;
}
