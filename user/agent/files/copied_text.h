/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares memory of a process with a file. A program can copy its own text to anonymous memory at
 * the same addresses, to have large pages. Event loop only.
 */
#ifndef JITBPF_AGENT_FILES_COPIED_TEXT_H
#define JITBPF_AGENT_FILES_COPIED_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/files/file_store.h"
#include "base/vec.h"
#include "pipeline/intake/text_source.h"

#define COPIED_TEXTS_MAX 64 /* comparisons that go on in later turns */

/* Memory that is compared with the file of a mapping of the same process. */
struct copied_text {
	struct jitbpf_mapping *file; /* owned */
	uint64_t address, size_bytes, file_offset;
	uint64_t at;	  /* bytes that were compared */
	uint64_t telling; /* of those in the last turn, the ones that prove something */
	uint32_t tries;
};

typedef VEC(struct copied_text) copied_texts;

/*
 * Returns true if all of the memory at an address of a process equals the file of one of its
 * mappings, from file_offset on. Pages whose bytes are all equal, such as padding, prove nothing:
 * they may be half of the memory at most. If the owner of the process has used up its budget, or
 * there are too many comparisons, the memory does not count as equal. If the turn is too short, the
 * comparison goes on in copied_text_take().
 */
bool copied_text_equals(struct file_store *files, const struct jitbpf_mapping *file,
			uint64_t address, uint64_t size_bytes, uint64_t file_offset);

/*
 * Go on with comparisons. Returns a mapping of a file for the memory that was found equal in this
 * turn, which the caller frees, or NULL if there is none. Its time is not set.
 */
struct jitbpf_mapping *copied_text_take(struct file_store *files);

void copied_texts_deinit(copied_texts *texts);

/* Set *ret to a source for intake. *ret borrows files. */
void copied_text_source(struct file_store *files, struct text_source *ret);

#endif
