/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random access to the contents of a compressed section. Of a zlib section (zlib_inflate.h), a few
 * inflated blocks are cached. zstd has no restart points, so a zstd section is decompressed as a
 * whole, within a limit.
 */
#ifndef JITBPF_DECODE_ELF_INFLATED_SECTION_H
#define JITBPF_DECODE_ELF_INFLATED_SECTION_H

#include "base/blob.h"
#include "decode/elf/elf_file.h"

struct inflated_section; /* see inflated_section.c */

enum inflated_header {
	INFLATED_HEADER_64,	/* SHF_COMPRESSED in a 64-bit file */
	INFLATED_HEADER_LEGACY, /* ".zdebug_*" */
	INFLATED_HEADER_32,	/* SHF_COMPRESSED in a 32-bit file */
};

/*
 * Open a compressed section. blob must outlive *ret. A zstd section deducts its size from
 * *whole_bytes. Returns 0, -EBADMSG (invalid header or data), -E2BIG (*whole_bytes is too small),
 * -ENOTSUP (unknown compression), -ENOMEM or the blob's error; on failure *ret is unchanged.
 */
int inflated_section_create(const struct blob *blob, const struct elf_section *section,
			    enum inflated_header kind, uint64_t *whole_bytes,
			    struct inflated_section **ret);
void inflated_section_destroy(struct inflated_section *inflated);

/* Size of the inflated contents in bytes. */
uint64_t inflated_section_size(const struct inflated_section *inflated);

/*
 * Read the inflated range [offset, offset + size_bytes). The bytes that have to
 * be read and inflated on the way are deducted from *work_bytes. Returns 0,
 * -EBADMSG (damaged data, or the range is outside the section), -E2BIG
 * (*work_bytes is too small), -ENOMEM or the blob's error.
 */
int inflated_section_read(struct inflated_section *inflated, uint64_t offset, void *buf,
			  size_t size_bytes, uint64_t *work_bytes);

/* Free the cached blocks. A later read inflates them again. */
void inflated_section_drop_cache(struct inflated_section *inflated);

/* Memory in use, in bytes. */
size_t inflated_section_bytes(const struct inflated_section *inflated);

#endif
