/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of the machine code of CPython's interpreter loop. */
#ifndef JITBPF_RUNTIMES_CPYTHON_LOOP_CODE_H
#define JITBPF_RUNTIMES_CPYTHON_LOOP_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "decode/elf/elf_file.h"
#include "uapi/runtime_recipe.h"

#define CPYTHON_LOOP_BYTES_MAX (1u << 20)

/*
 * Find the cold parts of a function [start, end), which the compiler has placed elsewhere: what its
 * direct jumps lead to, if call frame information says that it begins with a frame. Addresses are
 * those of the file. Returns the number of parts, at most `max`, or a negative errno.
 */
int cpython_cold_parts(const struct elf_file *elf, const struct runtime_range *loop, size_t max,
		       struct runtime_range *ret);

#endif
