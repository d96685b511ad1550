/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the code of an ELF file is: in the file, and at which addresses. */
#ifndef JITBPF_DECODE_CFI_CODE_RANGES_H
#define JITBPF_DECODE_CFI_CODE_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "decode/elf/elf_file.h"

/* Executable bytes of the file and their address. */
struct code_range {
	uint64_t file_offset, size_bytes;
	uint64_t address;
};

struct code_ranges {
	VEC(struct code_range) ranges; /* sorted by file offset, where they are disjoint */
};

/* Read the executable segments. Returns 0 or -ENOMEM; the caller calls code_ranges_deinit(). */
int code_ranges_init(struct code_ranges *ret, const struct elf_file *elf);
void code_ranges_deinit(struct code_ranges *ranges);

/* Returns the file offset of an address; UINT64_MAX if it is in no range. */
uint64_t code_ranges_offset(const struct code_ranges *ranges, uint64_t address);

/* All code is in [*ret_low, *ret_high); without code, *ret_low is UINT64_MAX, *ret_high 0. */
void code_ranges_bounds(const struct code_ranges *ranges, uint64_t *ret_low, uint64_t *ret_high);

/* Memory in use, in bytes, besides the struct. */
size_t code_ranges_bytes(const struct code_ranges *ranges);

#endif
