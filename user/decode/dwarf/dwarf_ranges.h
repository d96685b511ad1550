/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The address ranges of a DIE or a unit. */
#ifndef JITBPF_DECODE_DWARF_DWARF_RANGES_H
#define JITBPF_DECODE_DWARF_DWARF_RANGES_H

#include "base/vec.h"
#include "decode/dwarf/dwarf_file.h"

struct dwarf_range {
	uint64_t start, end;
};

struct dwarf_ranges {
	VEC(struct dwarf_range) ranges;
};

/*
 * Append the ranges that the attributes low_pc, high_pc and ranges describe.
 * Empty and wrapping ranges are skipped. *left limits the number of list
 * entries; each entry decrements it. Entries before an error stay appended.
 * Returns 0, -EBADMSG, -E2BIG (*left or the file's budget is spent), -ENOMEM,
 * or the blob's error.
 */
int dwarf_ranges_read(struct dwarf_file *file, const struct dwarf_unit *unit,
		      struct dwarf_value low_pc, struct dwarf_value high_pc,
		      struct dwarf_value ranges, uint64_t *left, struct dwarf_ranges *to);

#endif
