/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of .eh_frame or .debug_frame, sorted by address. The sorted
 * table of .eh_frame_hdr is used where it is valid; otherwise an index is built
 * by reading the whole section.
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
	uint32_t start; /* relative to fde_table.low */
	uint32_t fde;	/* offset in the section */
};

/* A zero-initialized table has no functions. */
struct fde_table {
	struct call_frame_section section;
	uint64_t low, high; /* address range that can contain functions */
	uint64_t count;

	struct section_reader header; /* .eh_frame_hdr; absent if the index is used */
	uint64_t header_address;      /* address of .eh_frame_hdr */
	uint64_t entries_address;     /* address of its table */
	uint8_t encoding;
	VEC(struct fde_index_entry) index;
};

/*
 * Open the table of .eh_frame, which is found by PT_GNU_EH_FRAME or by its
 * section name, or of .debug_frame. Functions outside [low, high) are ignored.
 * The blob of elf and the budget must outlive *ret. Returns 0, -ENOENT,
 * -ENOMEM, the blob's error, or an error of section_reader_init().
 */
int fde_table_init_eh(struct fde_table *ret, const struct elf_file *elf, uint64_t low,
		      uint64_t high, struct section_budget *budget);
int fde_table_init_debug(struct fde_table *ret, const struct elf_file *elf, uint64_t low,
			 uint64_t high, struct section_budget *budget);
void fde_table_deinit(struct fde_table *table);

/*
 * Replace the header by an index of the whole section. Unreadable entries are
 * skipped, and so are entries beyond the work budget or FDE_INDEX_MAX. Returns
 * 0, -ENOMEM or the blob's error.
 */
int fde_table_make_index(struct fde_table *table);
/* Returns true if lookups use .eh_frame_hdr. */
bool fde_table_has_header(const struct fde_table *table);

/* Start address of a function, and the offset of its FDE. */
struct fde_table_entry {
	uint64_t start;
	uint64_t fde;
};

/*
 * Read entry i < count, in order of address. Returns 0, -EBADMSG (the header is
 * invalid), -E2BIG, -ENOMEM or the blob's error.
 */
int fde_table_at(struct fde_table *table, uint64_t i, struct fde_table_entry *ret);

/* Find the last entry that starts at or before address, or else entry 0. Same errors. */
int fde_table_find(struct fde_table *table, uint64_t address, uint64_t *ret);

/* Memory in use, in bytes. */
size_t fde_table_bytes(const struct fde_table *table);

#endif
