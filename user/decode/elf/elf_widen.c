/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The entries of a 32-bit table are read to the end of the room for the widened ones. Widening goes
 * forward, and an entry is never written over one that is still to be read.
 */
#include "decode/elf/elf_widen.h"

#include <string.h>

int elf_header_read(const struct blob *blob, Elf64_Ehdr *ret)
{
	size_t size_bytes = blob->size_bytes < sizeof(*ret) ? blob->size_bytes : sizeof(*ret);
	Elf64_Ehdr wide = {0};
	Elf32_Ehdr narrow;
	int err;

	if (size_bytes < sizeof(narrow))
		return -ENOEXEC;
	err = blob_read(blob, 0, &wide, size_bytes);
	if (err)
		return err;
	if (memcmp(wide.e_ident, ELFMAG, SELFMAG))
		return -ENOEXEC;
	if (wide.e_ident[EI_CLASS] == ELFCLASS64 && size_bytes == sizeof(wide)) {
		*ret = wide;
		return 0;
	}
	if (wide.e_ident[EI_CLASS] != ELFCLASS32)
		return -ENOEXEC;
	memcpy(&narrow, &wide, sizeof(narrow));
	*ret = (Elf64_Ehdr){
		.e_type = narrow.e_type,
		.e_machine = narrow.e_machine,
		.e_version = narrow.e_version,
		.e_entry = narrow.e_entry,
		.e_phoff = narrow.e_phoff,
		.e_shoff = narrow.e_shoff,
		.e_flags = narrow.e_flags,
		.e_ehsize = narrow.e_ehsize,
		.e_phentsize = narrow.e_phentsize,
		.e_phnum = narrow.e_phnum,
		.e_shentsize = narrow.e_shentsize,
		.e_shnum = narrow.e_shnum,
		.e_shstrndx = narrow.e_shstrndx,
	};
	memcpy(ret->e_ident, narrow.e_ident, sizeof(ret->e_ident));
	return 0;
}

int elf_segments_read(const struct blob *blob, bool wide, uint64_t offset, size_t count,
		      Elf64_Phdr *ret)
{
	size_t entry_bytes = wide ? sizeof(*ret) : sizeof(Elf32_Phdr);
	uint8_t *read = (uint8_t *)ret + count * (sizeof(*ret) - entry_bytes);
	int err = blob_read(blob, offset, read, count * entry_bytes);

	if (err || wide)
		return err;
	for (size_t i = 0; i < count; i++) {
		Elf32_Phdr narrow;

		memcpy(&narrow, read + i * sizeof(narrow), sizeof(narrow));
		ret[i] = (Elf64_Phdr){
			.p_type = narrow.p_type,
			.p_flags = narrow.p_flags,
			.p_offset = narrow.p_offset,
			.p_vaddr = narrow.p_vaddr,
			.p_paddr = narrow.p_paddr,
			.p_filesz = narrow.p_filesz,
			.p_memsz = narrow.p_memsz,
			.p_align = narrow.p_align,
		};
	}
	return 0;
}

int elf_sections_read(const struct blob *blob, bool wide, uint64_t offset, size_t count,
		      Elf64_Shdr *ret)
{
	size_t entry_bytes = wide ? sizeof(*ret) : sizeof(Elf32_Shdr);
	uint8_t *read = (uint8_t *)ret + count * (sizeof(*ret) - entry_bytes);
	int err = blob_read(blob, offset, read, count * entry_bytes);

	if (err || wide)
		return err;
	for (size_t i = 0; i < count; i++) {
		Elf32_Shdr narrow;

		memcpy(&narrow, read + i * sizeof(narrow), sizeof(narrow));
		ret[i] = (Elf64_Shdr){
			.sh_name = narrow.sh_name,
			.sh_type = narrow.sh_type,
			.sh_flags = narrow.sh_flags,
			.sh_addr = narrow.sh_addr,
			.sh_offset = narrow.sh_offset,
			.sh_size = narrow.sh_size,
			.sh_link = narrow.sh_link,
			.sh_info = narrow.sh_info,
			.sh_addralign = narrow.sh_addralign,
			.sh_entsize = narrow.sh_entsize,
		};
	}
	return 0;
}

int elf_symbols_read(const struct blob *blob, bool wide, uint64_t offset, size_t count,
		     Elf64_Sym *ret)
{
	size_t entry_bytes = wide ? sizeof(*ret) : sizeof(Elf32_Sym);
	uint8_t *read = (uint8_t *)ret + count * (sizeof(*ret) - entry_bytes);
	int err = blob_read(blob, offset, read, count * entry_bytes);

	if (err || wide)
		return err;
	for (size_t i = 0; i < count; i++) {
		Elf32_Sym narrow;

		memcpy(&narrow, read + i * sizeof(narrow), sizeof(narrow));
		ret[i] = (Elf64_Sym){
			.st_name = narrow.st_name,
			.st_info = narrow.st_info,
			.st_other = narrow.st_other,
			.st_shndx = narrow.st_shndx,
			.st_value = narrow.st_value,
			.st_size = narrow.st_size,
		};
	}
	return 0;
}
