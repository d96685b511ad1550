/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions that a section of call frame information describes, by address: found in the
 * sorted table of .eh_frame_hdr, or in an index made by going through all of the section.
 */
#ifndef JITBPF_DECODE_CFI_FDE_TABLE_H
#define JITBPF_DECODE_CFI_FDE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "decode/cfi/call_frame.h"
#include "decode/elf/elf_file.h"

#define FDE_INDEX_MAX (2u << 20) /* functions in an index */

struct fde_index_entry {
	uint32_t start; /* from the index's base */
	uint32_t fde;	/* offset in the section */
};

/* Zero-initialized: of nothing. */
struct fde_table {
	struct call_frame_section section;
	uint64_t low, high; /* addresses where functions can be */
	uint64_t count;

	struct section_reader header; /* .eh_frame_hdr, from its table on; not there: the index */
	uint64_t header_address;      /* of the section */
	uint64_t entries_address;     /* of the table */
	uint8_t encoding;
	VEC(struct fde_index_entry) index;
};

/*
 * Of .eh_frame, which PT_GNU_EH_FRAME or a section's name leads to; or of .debug_frame. elf's
 * blob and the budget outlive *ret; functions are in [low, high). Returns 0, -ENOENT,
 * -ENOMEM or the blob's error; or what section_reader_init() does.
 */
int fde_table_init_eh(struct fde_table *ret, const struct elf_file *elf, uint64_t low,
		      uint64_t high, struct section_budget *budget);
int fde_table_init_debug(struct fde_table *ret, const struct elf_file *elf, uint64_t low,
			 uint64_t high, struct section_budget *budget);
void fde_table_deinit(struct fde_table *table);

/*
 * Go through all of the section for an index, which takes the header's place. What cannot be
 * read is left out; so is what is behind the budget or FDE_INDEX_MAX. Returns 0, -ENOMEM or
 * the blob's error.
 */
int fde_table_make_index(struct fde_table *table);
bool fde_table_has_header(const struct fde_table *table);

/* Where a function starts, and its FDE's offset. */
struct fde_table_entry {
	uint64_t start;
	uint64_t fde;
};

/*
 * The i-th, by address; i < count. Returns 0, -EBADMSG (the header lies), -E2BIG, -ENOMEM or
 * the blob's error.
 */
int fde_table_at(struct fde_table *table, uint64_t i, struct fde_table_entry *ret);

/* The last one that starts at or before address, or the first. Same returns. */
int fde_table_find(struct fde_table *table, uint64_t address, uint64_t *ret);

size_t fde_table_bytes(const struct fde_table *table);

#endif
