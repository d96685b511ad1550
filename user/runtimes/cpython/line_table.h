/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The line tables of CPython's code objects. Their formats are those of 3.9 (lnotab), 3.10 and
 * 3.11 (location table). The bytes are untrusted.
 */
#ifndef JITBPF_RUNTIMES_CPYTHON_LINE_TABLE_H
#define JITBPF_RUNTIMES_CPYTHON_LINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "runtimes/runtime_reader.h"

/*
 * Append the lines of a table to the empty list of *ret; ret->first_line is set. Line 0: none, as
 * for what the compiler has added. Positions are in bytes of code; for 3.10, in units of 2 bytes.
 * A table that ends within an entry, or that has more than RUNTIME_LINES_MAX lines, ends there.
 * Returns 0 or -ENOMEM.
 */
int cpython_lines_read(uint32_t minor, const uint8_t *table, size_t table_bytes,
		       struct runtime_function *ret);

#endif
