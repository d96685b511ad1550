/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * .debug_aranges: the address ranges of units, a small section that saves reading all of
 * .debug_info. Compilers may leave out units.
 */
#ifndef JITBPF_DECODE_DWARF_DWARF_ARANGES_H
#define JITBPF_DECODE_DWARF_DWARF_ARANGES_H

#include "base/vec.h"
#include "decode/dwarf/dwarf_file.h"

struct dwarf_arange {
	uint64_t start, end;
	uint64_t unit; /* offset of its header in .debug_info */
};

typedef VEC(struct dwarf_arange) dwarf_aranges;

/*
 * Append the ranges of all units, at most max. Units are in ascending order; ranges of size 0 are
 * left out. Returns 0, -ENOENT (no such section), -EBADMSG (damaged, or not in order), -E2BIG,
 * -ENOMEM or section_view()'s error; after an error *ret has some ranges. The owner calls
 * vec_deinit().
 */
int dwarf_aranges_read(struct dwarf_file *file, size_t max, dwarf_aranges *ret);

#endif
