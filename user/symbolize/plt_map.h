/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The PLT entries of a file. Few files are sampled in their PLT, and its relocations can be tens of
 * megabytes. So the entries are read with the first look-up of an address in the PLT.
 */
#ifndef JITBPF_SYMBOLIZE_PLT_MAP_H
#define JITBPF_SYMBOLIZE_PLT_MAP_H

#include "decode/elf/elf_plt.h"
#include "symbolize/symbol_table.h"

/* Zero-initialized is empty. */
struct plt_map {
	/* addresses of the sections with entries; empty ones have end 0 */
	struct plt_range {
		uint64_t start, end;
	} ranges[ELF_PLT_SECTIONS];
	struct symbol_table dynamic; /* .dynsym */
	struct elf_plt plt;	     /* sorted by address */
	bool read;		     /* plt is valid */
};

/*
 * Find the PLT of a file. blob is that of elf. If .dynsym is large, blob is shared, and the PLT is
 * read later; if not, the PLT is read now. A damaged PLT has no entries. Returns 0, or -ENOMEM with
 * *ret unchanged. The caller calls plt_map_deinit().
 */
int plt_map_init(struct plt_map *ret, const struct elf_file *elf, struct blob *blob);
void plt_map_deinit(struct plt_map *plt);

/* Returns the entry that contains an address, or NULL. */
const struct elf_plt_entry *plt_map_find(struct plt_map *plt, uint64_t address);

/* Memory in use in bytes. */
size_t plt_map_bytes(const struct plt_map *plt);

#endif
