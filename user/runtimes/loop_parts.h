/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The cold parts of an interpreter's loop, which have no exported symbols. */
#ifndef JITBPF_RUNTIMES_LOOP_PARTS_H
#define JITBPF_RUNTIMES_LOOP_PARTS_H

#include "decode/cfi/fde_table.h"
#include "decode/elf/elf_file.h"
#include "uapi/runtime_recipe.h"

/*
 * Add to the *count ranges of a loop the parts of its code that the first of them branches into:
 * functions of .eh_frame that it enters elsewhere than at their starts. Without .eh_frame there are
 * none. Returns 0, -ENOMEM or the blob's error.
 */
int loop_parts_add_cold(const struct elf_file *elf, struct runtime_range loops[RUNTIME_LOOPS_MAX],
			uint32_t *count);

/*
 * Set *ret to the function of .eh_frame that has an address. Returns 0, -ENOENT or -ENOMEM, or the
 * blob's error.
 */
int loop_parts_function_at(struct fde_table *table, uint64_t address, struct runtime_range *ret);

#endif
