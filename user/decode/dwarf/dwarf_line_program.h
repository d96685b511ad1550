/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program that a line table is packed as, and its header; dwarf_lines.h is what to use. */
#ifndef JITBPF_DECODE_DWARF_DWARF_LINE_PROGRAM_H
#define JITBPF_DECODE_DWARF_DWARF_LINE_PROGRAM_H

#include "decode/dwarf/dwarf_lines.h"

/*
 * Run the program at an offset of .debug_line into *lines, which is empty. On
 * failure it holds what came before, and is still to be deinited. Returns as
 * dwarf_lines_read(). The sequences are in the program's order.
 */
int dwarf_line_program_run(struct dwarf_file *file, uint64_t offset, struct dwarf_lines *lines);

#endif
