/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The line table of a unit: which source line the code at an address comes from. */
#ifndef JITBPF_DECODE_DWARF_DWARF_LINES_H
#define JITBPF_DECODE_DWARF_DWARF_LINES_H

#include "base/vec.h"
#include "decode/dwarf/dwarf_file.h"

#define DWARF_LINES_BYTES_MAX (32u << 20) /* of one line program */
#define DWARF_ROWS_MAX	      (2u << 20)  /* that differ, in one table */
#define DWARF_FILES_MAX	      (256u << 10)

struct dwarf_row {
	uint64_t address; /* up to the next row's */
	uint32_t file;
	uint32_t line;
};

/* Rows in order of their addresses, with no gap between them. */
struct dwarf_sequence {
	uint64_t start, end;
	uint32_t first, count; /* of its rows */
};

struct dwarf_line_file {
	struct dwarf_value name;
	uint64_t directory;
};

/* Zero-initialized is empty. */
struct dwarf_lines {
	uint16_t version;
	uint8_t offset_bytes;
	VEC(struct dwarf_row) rows;
	VEC(struct dwarf_sequence) sequences; /* by start */
	VEC(struct dwarf_value) directories;
	VEC(struct dwarf_line_file) files;
};

/*
 * Run the line program of a unit. Sequences that lie (addresses that go back)
 * are left out, and those at 0, where linkers put what they dropped.
 * Returns 0, -ENOENT (it has none), -EBADMSG, -ENOTSUP, -E2BIG, -ENOMEM, or the
 * blob's error; on failure *ret is unchanged. The caller deinits *ret.
 */
int dwarf_lines_read(struct dwarf_file *file, const struct dwarf_unit *unit,
		     struct dwarf_lines *ret);
void dwarf_lines_deinit(struct dwarf_lines *lines);

/* The row that covers an address, or NULL. */
const struct dwarf_row *dwarf_lines_find(const struct dwarf_lines *lines, uint64_t address);

struct dwarf_path {
	VEC(char) text; /* with its NUL */
};

/*
 * Append the path of the file of that number, as the table counts them: from
 * the unit's directory on, as far as the table says.
 * Returns 0, -ENOENT (no such file), -EBADMSG, -ENOMEM, or the blob's error;
 * on failure *to ends where it did.
 */
int dwarf_lines_path(struct dwarf_file *file, const struct dwarf_unit *unit,
		     const struct dwarf_lines *lines, uint64_t number, struct dwarf_path *to);

/* Memory that it takes. */
size_t dwarf_lines_bytes(const struct dwarf_lines *lines);

#endif
