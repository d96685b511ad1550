/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contents of a compressed section, read anywhere. Deflate can only be read
 * from its start: so while it is, points are kept from which it can go on, and
 * of what was inflated only the blocks used last. zstd keeps no such points
 * apart: that is inflated whole, within a limit.
 */
#ifndef JITBPF_DECODE_ELF_INFLATED_SECTION_H
#define JITBPF_DECODE_ELF_INFLATED_SECTION_H

#include "base/blob.h"
#include "decode/elf/elf_file.h"

struct inflated_section; /* see inflated_section.c */

/*
 * section is of that kind: SHF_COMPRESSED, or with legacy true ".zdebug_*". blob
 * outlives *ret. Where it has to be held whole, that is taken off *whole_bytes.
 * Returns 0, -EBADMSG (it lies), -E2BIG (*whole_bytes are not enough), -ENOTSUP
 * (another compression), -ENOMEM or the blob's error; on failure *ret is unchanged.
 */
int inflated_section_create(const struct blob *blob, const struct elf_section *section, bool legacy,
			    uint64_t *whole_bytes, struct inflated_section **ret);
void inflated_section_destroy(struct inflated_section *inflated);

uint64_t inflated_section_size(const struct inflated_section *inflated);

/*
 * Read size_bytes from offset on, which lie inside. What is inflated to get there
 * is taken off *work_bytes. Returns 0, -EBADMSG, -E2BIG (*work_bytes are not
 * enough), -ENOMEM or the blob's error.
 */
int inflated_section_read(struct inflated_section *inflated, uint64_t offset, void *buf,
			  size_t size_bytes, uint64_t *work_bytes);

/* Let go of what was inflated: it will be again where it is asked for. */
void inflated_section_drop_cache(struct inflated_section *inflated);

/* Memory that it takes. */
size_t inflated_section_bytes(const struct inflated_section *inflated);

#endif
