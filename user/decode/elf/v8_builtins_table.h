/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of V8's builtins in a file. V8 needs it to find its own code, so no strip removes it:
 * constant data has the offset of each builtin in the code, and its size. Names are not in the
 * file, and no symbol leads to the table. It is known by its form, and the start of the code by
 * the padding between the builtins.
 */
#ifndef JITBPF_DECODE_ELF_V8_BUILTINS_TABLE_H
#define JITBPF_DECODE_ELF_V8_BUILTINS_TABLE_H

#include <stdint.h>

#include "base/vec.h"
#include "decode/elf/elf_file.h"

#define V8_BUILTINS_MIN	     64 /* fewer are no table */
#define V8_BUILTINS_MAX	     16384
#define V8_BUILTINS_CODE_MAX (16u << 20)  /* where the code is searched */
#define V8_BUILTINS_DATA_MAX (128u << 20) /* where the table is searched */

struct v8_builtin_code {
	uint64_t start;
	uint32_t size_bytes;
};

typedef VEC(struct v8_builtin_code) v8_builtin_codes;

/*
 * Add the builtins in the addresses [low, high) to *ret, which must be empty: ascending and
 * disjoint. Returns 0, -ENOENT (the file has no table whose builtins are there), -ENOMEM or the
 * blob's error.
 */
int v8_builtins_table_find(const struct elf_file *elf, uint64_t low, uint64_t high,
			   v8_builtin_codes *ret);

#endif
