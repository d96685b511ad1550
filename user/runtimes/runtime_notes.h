/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a reader has made of much memory of a process, and can use again for its next function, such
 * as where the lines of a source begin. Bounded; what was used longest ago is dropped first.
 */
#ifndef JITBPF_RUNTIMES_RUNTIME_NOTES_H
#define JITBPF_RUNTIMES_RUNTIME_NOTES_H

#include <stddef.h>
#include <stdint.h>

#define RUNTIME_NOTES_MAX	16
#define RUNTIME_NOTES_BYTES_MAX (8u << 20) /* of all */

/* owner: the process, as struct process_memory has it; the others are the reader's. */
struct runtime_note_key {
	uint64_t owner, object, version;
};

struct runtime_note {
	struct runtime_note_key key;
	void *data; /* NULL: none */
	size_t size_bytes;
	uint64_t used;
};

/* Zero-initialized is empty. */
struct runtime_notes {
	struct runtime_note notes[RUNTIME_NOTES_MAX];
	size_t bytes;
	uint64_t uses;
};

/* Returns what was put, borrowed until the next one is put; NULL: nothing is there. */
const void *runtime_notes_find(struct runtime_notes *notes, const struct runtime_note_key *key,
			       size_t *ret_bytes);

/* Keep data, which free() ends. The key is not there yet. What is too large is dropped at once. */
void runtime_notes_put(struct runtime_notes *notes, const struct runtime_note_key *key, void *data,
		       size_t size_bytes);

void runtime_notes_deinit(struct runtime_notes *notes);

#endif
