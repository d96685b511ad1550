/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions that a section of call frame information describes, by address: found in the
 * sorted table of .eh_frame_hdr, or in an index made by going through all of the section.
 */
#ifndef JITBPF_DECODE_FRAME_TABLE_H
#define JITBPF_DECODE_FRAME_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "decode/call_frame.h"
#include "decode/elf_file.h"

#define FRAME_INDEX_MAX (2u << 20) /* functions in an index */

struct frame_index_entry {
	uint32_t start; /* from the index's base */
	uint32_t fde;	/* offset in the section */
};

/* Zero-initialized: of nothing. */
struct frame_table {
	struct call_frame_section section;
	uint64_t low, high; /* addresses where functions can be */
	uint64_t count;

	struct section_reader header; /* .eh_frame_hdr, from its table on; not there: the index */
	uint64_t header_address;      /* of the section */
	uint64_t entries_address;     /* of the table */
	uint8_t encoding;
	VEC(struct frame_index_entry) index;
};

/*
 * Of .eh_frame, which PT_GNU_EH_FRAME or a section's name leads to; or of .debug_frame. elf's
 * blob and the budget outlive *ret; functions are in [low, high). Returns 0, -ENOENT,
 * -ENOMEM or the blob's error; or what section_reader_init() does.
 */
int frame_table_init_eh(struct frame_table *ret, const struct elf_file *elf, uint64_t low,
			uint64_t high, struct section_budget *budget);
int frame_table_init_debug(struct frame_table *ret, const struct elf_file *elf, uint64_t low,
			   uint64_t high, struct section_budget *budget);
void frame_table_deinit(struct frame_table *table);

/*
 * Go through all of the section for an index, which takes the header's place. What cannot be
 * read is left out; so is what is behind the budget or FRAME_INDEX_MAX. Returns 0, -ENOMEM or
 * the blob's error.
 */
int frame_table_make_index(struct frame_table *table);
bool frame_table_has_header(const struct frame_table *table);

/* Where a function starts, and its FDE's offset. */
struct frame_table_entry {
	uint64_t start;
	uint64_t fde;
};

/*
 * The i-th, by address; i < count. Returns 0, -EBADMSG (the header lies), -E2BIG, -ENOMEM or
 * the blob's error.
 */
int frame_table_at(struct frame_table *table, uint64_t i, struct frame_table_entry *ret);

/* The last one that starts at or before address, or the first. Same returns. */
int frame_table_find(struct frame_table *table, uint64_t address, uint64_t *ret);

size_t frame_table_bytes(const struct frame_table *table);

#endif
