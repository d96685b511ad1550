/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/copied_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/files/file_store_state.h"
#include "base/scope.h"

#define TRIES_MAX 50 /* turns for one comparison */

/* Compare in pieces, so that a helper answers each of them in time. Returns as go_on(). */
static int compare(struct file_store *files, const struct found_file *found,
		   struct copied_text *text)
{
	struct owner_key owner = file_store_owner(files, text->file->pid);

	while (text->at < text->size_bytes) {
		uint64_t left = text->size_bytes - text->at, telling;
		struct file_request request = {
			.kind = FILE_COMPARE_MEMORY,
			.pid = text->file->pid,
			.address = text->address + text->at,
			.offset = text->file_offset + text->at,
			.size_bytes = left < FILE_COMPARED_MAX ? left : FILE_COMPARED_MAX,
		};
		int err =
			file_reader_compare(files->comparing, &request, owner, found->fd, &telling);

		if (err)
			return err == -ETIMEDOUT ? -EAGAIN : err;
		text->at += request.size_bytes;
		text->telling += telling;
	}
	return 0;
}

/* Returns 0 (the rest is equal), -EAGAIN (go on in a later turn), or another negative errno. */
static int go_on(struct file_store *files, struct copied_text *text)
{
	struct found_file found;
	int err;

	text->telling = 0;
	err = file_store_find(&files->meeting, FILE_FIND_MAPPED, text->file, 0, &found);

	if (err)
		return err == -ETIMEDOUT ? -EAGAIN : err;
	err = compare(files, &found, text);
	close(found.fd);
	return err;
}

/* Returns a copy of the mapping of the file, or NULL without memory. */
static struct jitbpf_mapping *copy_of(const struct copied_text *text)
{
	struct jitbpf_mapping *copy = malloc(text->file->h.size_bytes);

	if (copy)
		memcpy(copy, text->file, text->file->h.size_bytes);
	return copy;
}

/* Begin anew in a later turn. */
static void keep(struct file_store *files, struct copied_text text)
{
	if (files->texts.size >= COPIED_TEXTS_MAX || vec_reserve(&files->texts, COPIED_TEXTS_MAX))
		return;
	text.at = 0;
	text.file = copy_of(&text);
	if (text.file)
		files->texts.data[files->texts.size++] = text;
}

bool copied_text_equals(struct file_store *files, const struct jitbpf_mapping *file,
			uint64_t address, uint64_t size_bytes, uint64_t file_offset)
{
	struct copied_text text = {
		.file = (struct jitbpf_mapping *)file,
		.address = address,
		.size_bytes = size_bytes,
		.file_offset = file_offset,
	};
	int err;

	if (!size_bytes || file_offset > UINT64_MAX - size_bytes ||
	    address > UINT64_MAX - size_bytes ||
	    !owner_rates_take(&files->compared, file_store_owner(files, file->pid), size_bytes,
			      clock_now_ns()))
		return false;
	err = go_on(files, &text);
	if (err == -EAGAIN)
		keep(files, text);
	return !err && text.telling >= size_bytes / 2;
}

/* Returns what was equal from `begin` on, as a mapping of the file; NULL if it proves nothing. */
static struct jitbpf_mapping *equal_part(const struct copied_text *text, uint64_t begin)
{
	uint64_t size_bytes = text->at - begin;
	struct jitbpf_mapping *ret = NULL;

	if (size_bytes && text->telling >= size_bytes / 2)
		ret = copy_of(text);
	if (!ret)
		return NULL;
	ret->address = text->address + begin;
	ret->size_bytes = size_bytes;
	ret->file_offset = text->file_offset + begin;
	return ret;
}

struct jitbpf_mapping *copied_text_take(struct file_store *files)
{
	for (size_t left = files->texts.size; left; left--) {
		struct copied_text text = files->texts.data[0];
		uint64_t begin = text.at;
		int err = go_on(files, &text);
		struct jitbpf_mapping *equal = equal_part(&text, begin);

		files->texts.size--;
		memmove(files->texts.data, files->texts.data + 1,
			files->texts.size * sizeof(*files->texts.data));
		if (err == -EAGAIN && ++text.tries < TRIES_MAX)
			files->texts.data[files->texts.size++] = text;
		else
			free(text.file);
		if (equal)
			return equal;
	}
	return NULL;
}

void copied_texts_deinit(copied_texts *texts)
{
	vec_for_each (text, texts)
		free(text->file);
	vec_deinit(texts);
}

static bool is_text_of(void *files, const struct jitbpf_mapping *mapping)
{
	return copied_text_equals(files, mapping, mapping->address, mapping->size_bytes,
				  mapping->file_offset);
}

void copied_text_source(struct file_store *files, struct text_source *ret)
{
	*ret = (struct text_source){.equals = is_text_of, .context = files};
}
