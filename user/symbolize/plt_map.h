/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The entries of a file's procedure linkage table, each as "function@plt". */
#ifndef JITBPF_SYMBOLIZE_PLT_MAP_H
#define JITBPF_SYMBOLIZE_PLT_MAP_H

#include "decode/elf/elf_file.h"
#include "symbolize/symbol_map.h"
#include "symbolize/symbol_names.h"

#define PLT_NAME_BYTES_MAX  (4u << 10)	/* a longer name is cut there */
#define PLT_NAMES_BYTES_MAX (32u << 20) /* of all names; entries beyond have none */

/* Zero-initialized is empty. */
struct plt_map {
	struct symbol_map map; /* ids are offsets in names */
	char *names;
	size_t names_bytes;
};

/*
 * Read it; a damaged one has no entries. An entry behind which the file chooses one
 * of its own functions is called as the chooser is among symbols (whose ids are numbers of
 * names), else "*ABS*+0x1234@plt". Returns 0 or -ENOMEM; then *ret is unchanged. The
 * caller deinits *ret.
 */
int plt_map_init(struct plt_map *ret, const struct elf_file *elf, const struct symbol_map *symbols,
		 struct symbol_names *names);
void plt_map_deinit(struct plt_map *plt);

#endif
