/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Decodes the compressed table of lines of a Java method. Pure code; the input is hostile. */
#ifndef JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_LINES_H
#define JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtimes/runtime_reader.h"

/*
 * Add the lines of the table to ret->lines, ascending by position (index of a bytecode), each
 * position once. zero_free: numbers are encoded as since Java 20, without bytes 0. What is behind a
 * malformed entry is left out. Returns 0 or -ENOMEM.
 */
int hotspot_lines_decode(const uint8_t *table, size_t size_bytes, bool zero_free,
			 struct runtime_function *ret);

#endif
