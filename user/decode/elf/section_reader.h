/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A windowed reader of one ELF section. Debug sections can be hundreds of
 * megabytes of which few bytes are needed, so the reader holds only a window of
 * the section. Compressed sections (SHF_COMPRESSED or ".zdebug_*") are inflated
 * on the fly, see inflated_section.h.
 */
#ifndef JITBPF_DECODE_ELF_SECTION_READER_H
#define JITBPF_DECODE_ELF_SECTION_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "decode/elf/elf_file.h"
#include "decode/elf/inflated_section.h"

/* Limits that several readers share; each counts down. */
struct section_budget {
	uint64_t work_bytes;	/* bytes that may still be read or inflated */
	uint64_t inflate_bytes; /* bytes that may still be held for zstd sections */
	bool spent;		/* set when a read failed for lack of work_bytes */
};

/* A zero-initialized reader is an absent section of size 0. */
struct section_reader {
	const struct blob *blob; /* borrowed */
	uint64_t file_offset;
	uint64_t size_bytes;		   /* of the inflated contents */
	struct inflated_section *inflated; /* NULL if the section is not compressed */
	bool shares;			   /* `inflated` is owned by another reader */
	uint32_t window_least;		   /* 0: 8 KB, or all of a small section */
	uint8_t *window;
	uint64_t window_offset;
	size_t window_bytes, window_capacity;
	struct section_budget *budget; /* borrowed */
};

/*
 * Find the section of a name that has contents. A missing ".debug_x" is
 * searched as ".zdebug_x" too; *ret_legacy is set to true if the section uses
 * that name. Returns NULL if neither exists.
 */
const struct elf_section *section_find(const struct elf_file *elf, const char *name,
				       bool *ret_legacy);

/*
 * Open a section. The blob of elf and the budget must outlive *ret. Returns 0,
 * -ENOENT, -EBADMSG (damaged or truncated), -E2BIG (over the budget), -ENOTSUP
 * (the compression is neither zlib nor zstd), -ENOMEM or the blob's error; on
 * failure *ret is unchanged. The caller calls section_reader_deinit().
 */
int section_reader_init(struct section_reader *ret, const struct elf_file *elf, const char *name,
			struct section_budget *budget);
void section_reader_deinit(struct section_reader *reader);

/* Returns a second reader of the same section, with its own window. `of` must outlive it. */
struct section_reader section_reader_again(const struct section_reader *of);

/*
 * View `wanted` bytes at offset, or fewer at the end of the section. The bytes
 * stay valid until the reader's next view. Returns 0, -EBADMSG (offset is
 * outside the section), -E2BIG (the work budget is spent), -ENOMEM or the
 * blob's error.
 */
int section_view(struct section_reader *reader, uint64_t offset, uint64_t wanted,
		 struct cursor *ret);

/*
 * View bytes only if the current window holds all of them; otherwise return
 * false. The window does not move, so earlier views stay valid.
 */
bool section_view_held(const struct section_reader *reader, uint64_t offset, uint64_t wanted,
		       struct cursor *ret);

/*
 * Read the NUL-terminated string at offset, of at most max characters. Returns
 * -EBADMSG if the string is longer or not terminated, or section_view()'s
 * error. The string stays valid until the reader's next view.
 */
int section_string(struct section_reader *reader, uint64_t offset, size_t max, const char **ret);

/* Free the window and cached blocks. Invalidates earlier views; later views read again. */
void section_reader_drop_cache(struct section_reader *reader);

/* Memory in use, in bytes. */
size_t section_reader_bytes(const struct section_reader *reader);

#endif
