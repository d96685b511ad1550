/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of a file's PLT entries: "function@plt". */
#ifndef JITBPF_SYMBOLIZE_PLT_MAP_H
#define JITBPF_SYMBOLIZE_PLT_MAP_H

#include "decode/elf/elf_file.h"
#include "symbolize/symbol_map.h"
#include "symbolize/symbol_names.h"

#define PLT_NAME_BYTES_MAX  (4u << 10)	/* longer names are truncated */
#define PLT_NAMES_BYTES_MAX (32u << 20) /* limit of all names; entries beyond it have none */

/* Zero-initialized is empty. */
struct plt_map {
	struct symbol_map map; /* ids are offsets in names */
	char *names;
	size_t names_bytes;
};

/*
 * Read the PLT of a file; a damaged one yields no entries. An IRELATIVE entry
 * is named after its resolver, which is looked up in symbols (whose ids are
 * numbers of names), or else "*ABS*+0x1234@plt". Returns 0, or -ENOMEM with
 * *ret unchanged. The caller calls plt_map_deinit().
 */
int plt_map_init(struct plt_map *ret, const struct elf_file *elf, const struct symbol_map *symbols,
		 struct symbol_names *names);
void plt_map_deinit(struct plt_map *plt);

#endif
