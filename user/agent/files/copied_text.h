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
#include "base/blob.h"
#include "pipeline/intake/text_source.h"

#define COPIED_TEXT_PLACES	8 /* that are compared, from the first to the last bytes */
#define COPIED_TEXT_PLACE_BYTES 512

/*
 * Returns true if the memory at an address of process pid equals the file from file_offset on, at
 * COPIED_TEXT_PLACES places. Bytes that are all equal, such as padding, prove nothing: half of the
 * places must have others. If memory or file cannot be read in time, they do not count as equal.
 */
bool copied_text_equals(struct file_store *files, const struct blob *file, uint32_t pid,
			uint64_t address, uint64_t size_bytes, uint64_t file_offset);

/* Set *ret to a source for intake. *ret borrows files. */
void copied_text_source(struct file_store *files, struct text_source *ret);

#endif
