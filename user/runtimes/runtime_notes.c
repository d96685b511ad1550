/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/runtime_notes.h"

#include <stdlib.h>
#include <string.h>

static void drop(struct runtime_notes *notes, struct runtime_note *note)
{
	notes->bytes -= note->size_bytes;
	free(note->data);
	*note = (struct runtime_note){0};
}

const void *runtime_notes_find(struct runtime_notes *notes, const struct runtime_note_key *key,
			       size_t *ret_bytes)
{
	for (size_t i = 0; i < RUNTIME_NOTES_MAX; i++) {
		struct runtime_note *note = &notes->notes[i];

		if (!note->data || memcmp(&note->key, key, sizeof(*key)) != 0)
			continue;
		note->used = ++notes->uses;
		*ret_bytes = note->size_bytes;
		return note->data;
	}
	return NULL;
}

/* Returns a place that is free, or else that which was used longest ago. */
static struct runtime_note *oldest(struct runtime_notes *notes)
{
	struct runtime_note *ret = &notes->notes[0];

	for (size_t i = 1; i < RUNTIME_NOTES_MAX; i++) {
		if (notes->notes[i].used < ret->used)
			ret = &notes->notes[i];
	}
	return ret;
}

/* Returns that which was used longest ago of those that are taken, or NULL. */
static struct runtime_note *oldest_taken(struct runtime_notes *notes)
{
	struct runtime_note *ret = NULL;

	for (size_t i = 0; i < RUNTIME_NOTES_MAX; i++) {
		struct runtime_note *note = &notes->notes[i];

		if (note->data && (!ret || note->used < ret->used))
			ret = note;
	}
	return ret;
}

void runtime_notes_put(struct runtime_notes *notes, const struct runtime_note_key *key, void *data,
		       size_t size_bytes)
{
	struct runtime_note *note;

	if (!data || size_bytes > RUNTIME_NOTES_BYTES_MAX) {
		free(data);
		return;
	}
	while (notes->bytes > RUNTIME_NOTES_BYTES_MAX - size_bytes)
		drop(notes, oldest_taken(notes));
	note = oldest(notes);
	if (note->data)
		drop(notes, note);
	*note = (struct runtime_note){
		.key = *key, .data = data, .size_bytes = size_bytes, .used = ++notes->uses};
	notes->bytes += size_bytes;
}

void runtime_notes_deinit(struct runtime_notes *notes)
{
	for (size_t i = 0; i < RUNTIME_NOTES_MAX; i++) {
		if (notes->notes[i].data)
			drop(notes, &notes->notes[i]);
	}
}
