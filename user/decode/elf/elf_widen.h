/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the tables of ELF files of either class as the structures of the 64-bit class, so that
 * nothing else has to know the structures of 32-bit files.
 */
#ifndef JITBPF_DECODE_ELF_ELF_WIDEN_H
#define JITBPF_DECODE_ELF_ELF_WIDEN_H

#include <elf.h>
#include <stdbool.h>

#include "base/blob.h"

/*
 * Read the header of a 64-bit, or of a 32-bit, file. Returns 0, -ENOEXEC (no ELF file), or the
 * blob's error. *ret has the e_ident and the entry sizes of the file.
 */
int elf_header_read(const struct blob *blob, Elf64_Ehdr *ret);

/*
 * Read `count` entries at a file offset. `wide` is the class of the file: true for 64 bits. Return
 * 0, -EBADMSG or the blob's error.
 */
int elf_segments_read(const struct blob *blob, bool wide, uint64_t offset, size_t count,
		      Elf64_Phdr *ret);
int elf_sections_read(const struct blob *blob, bool wide, uint64_t offset, size_t count,
		      Elf64_Shdr *ret);
int elf_symbols_read(const struct blob *blob, bool wide, uint64_t offset, size_t count,
		     Elf64_Sym *ret);

#endif
