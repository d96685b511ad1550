/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contents of one ELF section, a window at a time: debug sections are
 * hundreds of megabytes, of which little is ever asked for. Compressed ones
 * (SHF_COMPRESSED, or ".zdebug_*") are read the same way, see inflated_section.h.
 */
#ifndef JITBPF_DECODE_ELF_SECTION_READER_H
#define JITBPF_DECODE_ELF_SECTION_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "decode/elf/elf_file.h"
#include "decode/elf/inflated_section.h"

/* What reading may cost, of all readers that share it. */
struct section_budget {
	uint64_t work_bytes;	/* that are still to be looked at */
	uint64_t inflate_bytes; /* that may still be held inflated whole */
	bool spent;		/* something was refused for want of work_bytes */
};

/* Zero-initialized: a section that is not there. */
struct section_reader {
	const struct blob *blob; /* borrowed */
	uint64_t file_offset;
	uint64_t size_bytes;		   /* of the contents, inflated */
	struct inflated_section *inflated; /* NULL: they stand in the file as they are */
	bool shares;			   /* inflated is another reader's */
	bool sparing;			   /* of a small section too, only a window is kept */
	uint8_t *window;
	uint64_t window_offset;
	size_t window_bytes, window_capacity;
	struct section_budget *budget; /* borrowed */
};

/*
 * The section of that name that has contents, or NULL. A debug section may go by
 * another name where it is compressed the old way: *ret_legacy tells.
 */
const struct elf_section *section_find(const struct elf_file *elf, const char *name,
				       bool *ret_legacy);

/*
 * The section of that name; elf's blob and budget outlive *ret. Returns 0,
 * -ENOENT, -EBADMSG (it lies, or is not whole), -E2BIG (over the budget),
 * -ENOTSUP (compressed in another way than zlib's or zstd's), -ENOMEM or the blob's
 * error; on failure *ret is unchanged. The caller deinits *ret.
 */
int section_reader_init(struct section_reader *ret, const struct elf_file *elf, const char *name,
			struct section_budget *budget);
void section_reader_deinit(struct section_reader *reader);

/* A second window on the same section; `of` outlives it. */
struct section_reader section_reader_again(const struct section_reader *of);

/*
 * Look at wanted bytes from offset on, or at those that there are before the
 * section's end. Borrowed until the reader's next view. Returns 0, -EBADMSG
 * (offset is not inside), -E2BIG (the work's budget is spent), -ENOMEM or the
 * blob's error.
 */
int section_view(struct section_reader *reader, uint64_t offset, uint64_t wanted,
		 struct cursor *ret);

/*
 * The same, of what the last view has read anyway: moves nothing, so that what was
 * borrowed stays. False where that does not hold all of wanted.
 */
bool section_view_held(const struct section_reader *reader, uint64_t offset, uint64_t wanted,
		       struct cursor *ret);

/*
 * The NUL-terminated string at offset, of at most max characters; -EBADMSG for
 * one that is longer or has no end. Borrowed until the reader's next view.
 */
int section_string(struct section_reader *reader, uint64_t offset, size_t max, const char **ret);

/* Let go of what was read: it will be again where it is asked for. What was borrowed is no more. */
void section_reader_drop_cache(struct section_reader *reader);

/* Memory that it takes. */
size_t section_reader_bytes(const struct section_reader *reader);

#endif
