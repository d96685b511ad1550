/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The procedure linkage table (PLT): stubs through which a file calls functions
 * of other files. PLT entries have no symbols. Their names come from the
 * relocations of the GOT words that the stubs jump through.
 */
#ifndef JITBPF_DECODE_ELF_ELF_PLT_H
#define JITBPF_DECODE_ELF_ELF_PLT_H

#include <stdint.h>

#include "decode/elf/elf_file.h"

#define ELF_PLT_BYTES_MAX (4u << 20) /* limit of one PLT section */

#define ELF_PLT_SECTIONS 3

struct elf_plt_entry {
	uint64_t address;
	uint32_t size_bytes;
	/* index in .dynsym; 0 for an IRELATIVE entry, whose target a resolver chooses */
	uint32_t symbol;
	uint64_t resolver; /* address of that resolver, if symbol is 0 */
};

/* Owned by the caller. */
struct elf_plt {
	VEC(struct elf_plt_entry) entries; /* unsorted */
};

/* Returns section i < ELF_PLT_SECTIONS that can have entries, or NULL. */
const struct elf_section *elf_plt_section(const struct elf_file *elf, size_t i);

/*
 * Read the entries of .plt, .plt.sec and .plt.got. Invalid entries are skipped.
 * Returns 0 (also if there are no entries), -EBADMSG, -E2BIG (over a limit),
 * -ENOMEM or the blob's error; on failure *ret is unchanged. The caller calls
 * elf_plt_deinit().
 */
int elf_file_plt(const struct elf_file *elf, struct elf_plt *ret);
void elf_plt_deinit(struct elf_plt *plt);

#endif
