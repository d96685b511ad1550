/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The linker's description of a Go program (runtime.moduledata): where its code and the data of its
 * functions begin. Position-independent programs hold these addresses as relocations.
 */
#ifndef JITBPF_DECODE_ELF_GO_MODULE_H
#define JITBPF_DECODE_ELF_GO_MODULE_H

#include <stdint.h>

#include "decode/elf/elf_file.h"

#define GO_MODULE_SEARCH_MAX                                                                       \
	(64u << 20) /* bytes of data sections and relocations that are read                        \
		     */

struct go_module {
	uint64_t text, text_end; /* addresses */
	uint64_t functions_data; /* address that offsets of function data are relative to */
};

/*
 * Find the description that refers to the function table at table_address, which has
 * function_count functions. has_coverage: the program is of Go 1.20 or later. Returns 0, -ENOENT,
 * -ENOMEM or the blob's error.
 */
int go_module_find(const struct elf_file *elf, uint64_t table_address, uint64_t function_count,
		   bool has_coverage, struct go_module *ret);

#endif
