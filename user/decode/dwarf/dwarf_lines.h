/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The line table of a unit: a map from code addresses to source lines. */
#ifndef JITBPF_DECODE_DWARF_DWARF_LINES_H
#define JITBPF_DECODE_DWARF_DWARF_LINES_H

#include "base/vec.h"
#include "decode/dwarf/dwarf_file.h"

#define DWARF_LINES_BYTES_MAX (32u << 20) /* limit of one line program */
#define DWARF_ROWS_MAX	      (2u << 20)  /* limit of one table, without repeated rows */
#define DWARF_FILES_MAX	      (256u << 10)

struct dwarf_row {
	uint64_t address; /* first address; the row extends to the next row */
	uint32_t file;
	uint32_t line;
};

/* A contiguous range of code whose rows are sorted by address. */
struct dwarf_sequence {
	uint64_t start, end;
	uint32_t first, count; /* range in dwarf_lines.rows */
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
	VEC(struct dwarf_sequence) sequences; /* sorted by start */
	VEC(struct dwarf_value) directories;
	VEC(struct dwarf_line_file) files;
};

/*
 * Run the line program of a unit. Sequences with decreasing addresses are
 * skipped, and so are those at address 0, where linkers place discarded code.
 * Returns 0, -ENOENT (no line program), -EBADMSG, -ENOTSUP, -E2BIG, -ENOMEM, or
 * the blob's error; on failure *ret is unchanged. The caller calls
 * dwarf_lines_deinit().
 */
int dwarf_lines_read(struct dwarf_file *file, const struct dwarf_unit *unit,
		     struct dwarf_lines *ret);
void dwarf_lines_deinit(struct dwarf_lines *lines);

/* Returns the row that covers an address, or NULL. */
const struct dwarf_row *dwarf_lines_find(const struct dwarf_lines *lines, uint64_t address);

struct dwarf_path {
	VEC(char) text; /* including the NUL */
};

/*
 * Append the path of file `number`, as the table numbers its files: compilation
 * directory, include directory and name, as far as they are relative. Returns
 * 0, -ENOENT (no such file), -EBADMSG, -ENOMEM, or the blob's error; on failure
 * *to keeps its length.
 */
int dwarf_lines_path(struct dwarf_file *file, const struct dwarf_unit *unit,
		     const struct dwarf_lines *lines, uint64_t number, struct dwarf_path *to);

/* Memory in use, in bytes. */
size_t dwarf_lines_bytes(const struct dwarf_lines *lines);

#endif
