/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The procedure linkage table: short jumps through which a file calls functions of
 * others. No symbol says what they are; the relocation does of the word that each
 * of them jumps through.
 */
#ifndef JITBPF_DECODE_ELF_ELF_PLT_H
#define JITBPF_DECODE_ELF_ELF_PLT_H

#include <stdint.h>

#include "decode/elf/elf_file.h"

#define ELF_PLT_BYTES_MAX (4u << 20) /* of one of its sections */

struct elf_plt_entry {
	uint64_t address;
	uint32_t size_bytes;
	const char *name;  /* in the strings; NULL: the file chooses one of its own functions */
	uint64_t resolver; /* address of what does, where there is no name */
};

/* Owned by the caller. */
struct elf_plt {
	VEC(struct elf_plt_entry) entries; /* in no order */
	char *strings;
};

/*
 * The entries of .plt, .plt.sec and .plt.got. Those that lie are left out. Returns
 * 0, also where there are none, -EBADMSG, -E2BIG (over a limit), -ENOMEM or the
 * blob's error; on failure *ret is unchanged. The caller deinits *ret.
 */
int elf_file_plt(const struct elf_file *elf, struct elf_plt *ret);
void elf_plt_deinit(struct elf_plt *plt);

#endif
