/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The interpreter of line number programs. Internal to dwarf_lines.h. */
#ifndef JITBPF_DECODE_DWARF_DWARF_LINE_PROGRAM_H
#define JITBPF_DECODE_DWARF_DWARF_LINE_PROGRAM_H

#include "decode/dwarf/dwarf_lines.h"

/*
 * Run the program at an offset of .debug_line and fill *lines, which must be
 * empty. The sequences stay in program order. Returns the same errors as
 * dwarf_lines_read(). On failure *lines holds the part before the error; the
 * caller calls dwarf_lines_deinit() in any case.
 */
int dwarf_line_program_run(struct dwarf_file *file, uint64_t offset, struct dwarf_lines *lines);

#endif
