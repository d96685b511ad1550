/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A small ELF file in memory, well-formed until a test changes it. Its parts
 * have fixed offsets; text and data have different load displacements.
 */
#ifndef JITBPF_TESTS_ELF_IMAGE_H
#define JITBPF_TESTS_ELF_IMAGE_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "base/blob.h"

#define IMAGE_BYTES	      0x4000
#define IMAGE_SEGMENTS	      64
#define IMAGE_BUILD_ID	      0x200
#define IMAGE_TEXT	      0x1000
#define IMAGE_TEXT_ADDRESS    0x401000
#define IMAGE_TEXT_BYTES      0x800
#define IMAGE_DATA	      0x1800
#define IMAGE_DATA_ADDRESS    0x603800
#define IMAGE_PROBES	      0x2000
#define IMAGE_SYMBOLS	      0x2400
#define IMAGE_STRINGS	      0x2c00
#define IMAGE_DYNAMIC	      0x3000
#define IMAGE_DYNAMIC_STRINGS 0x3400
#define IMAGE_SECTION_NAMES   0x3800
#define IMAGE_SECTIONS	      0x3a00

enum image_section {
	SECTION_NULL,
	SECTION_BUILD_ID,
	SECTION_TEXT,
	SECTION_BASE,
	SECTION_DATA,
	SECTION_PROBES,
	SECTION_SYMBOLS,
	SECTION_STRINGS,
	SECTION_DYNAMIC,
	SECTION_DYNAMIC_STRINGS,
	SECTION_NAMES,
	SECTION_COUNT
};

struct elf_image {
	_Alignas(8) uint8_t bytes[IMAGE_BYTES];
};

static inline Elf64_Ehdr *image_header(struct elf_image *image)
{
	return (Elf64_Ehdr *)image->bytes;
}

static inline Elf64_Phdr *image_segment(struct elf_image *image, unsigned number)
{
	return (Elf64_Phdr *)(image->bytes + IMAGE_SEGMENTS) + number;
}

static inline Elf64_Shdr *image_section(struct elf_image *image, enum image_section number)
{
	return (Elf64_Shdr *)(image->bytes + IMAGE_SECTIONS) + number;
}

static inline struct blob image_blob(struct elf_image *image)
{
	return blob_of_memory(image->bytes, sizeof(image->bytes));
}

/* Add a string to a string table. Returns its offset. */
static inline uint32_t image_string(struct elf_image *image, enum image_section table,
				    const char *string)
{
	Elf64_Shdr *section = image_section(image, table);
	uint32_t at = (uint32_t)section->sh_size;

	memcpy(image->bytes + section->sh_offset + at, string, strlen(string) + 1);
	section->sh_size += strlen(string) + 1;
	return at;
}

static inline Elf64_Sym *image_symbol(struct elf_image *image, enum image_section table,
				      const char *name, uint64_t address, uint64_t size_bytes,
				      uint8_t info)
{
	Elf64_Shdr *section = image_section(image, table);
	Elf64_Sym *symbol = (Elf64_Sym *)(image->bytes + section->sh_offset + section->sh_size);

	*symbol = (Elf64_Sym){
		.st_name = image_string(image, section->sh_link, name),
		.st_info = info,
		.st_shndx = SECTION_TEXT,
		.st_value = address,
		.st_size = size_bytes,
	};
	section->sh_size += sizeof(*symbol);
	return symbol;
}

/* Append a note to a section, padded to `alignment`. Returns its descriptor. */
static inline uint8_t *image_note(struct elf_image *image, enum image_section number,
				  const char *owner, uint32_t type, const void *desc,
				  uint32_t desc_bytes)
{
	Elf64_Shdr *section = image_section(image, number);
	uint64_t mask = section->sh_addralign - 1;
	uint8_t *begin = image->bytes + section->sh_offset;
	Elf64_Nhdr header = {(uint32_t)strlen(owner) + 1, desc_bytes, type};
	uint64_t at = section->sh_size;
	uint8_t *placed;

	memcpy(begin + at, &header, sizeof(header));
	memcpy(begin + at + sizeof(header), owner, header.n_namesz);
	at = (at + sizeof(header) + header.n_namesz + mask) & ~mask;
	placed = begin + at;
	memcpy(placed, desc, desc_bytes);
	section->sh_size = (at + desc_bytes + mask) & ~mask;
	return placed;
}

/* Add a SystemTap note. */
static inline uint8_t *image_probe(struct elf_image *image, uint64_t site, uint64_t base,
				   uint64_t semaphore, const char *provider, const char *name)
{
	uint64_t addresses[3] = {site, base, semaphore};
	uint8_t desc[256] = {0};
	size_t size_bytes = sizeof(addresses);

	memcpy(desc, addresses, sizeof(addresses));
	memcpy(desc + size_bytes, provider, strlen(provider) + 1);
	size_bytes += strlen(provider) + 1;
	memcpy(desc + size_bytes, name, strlen(name) + 1);
	size_bytes += strlen(name) + 1;
	size_bytes++; /* without arguments */
	return image_note(image, SECTION_PROBES, "stapsdt", 3, desc, (uint32_t)size_bytes);
}

static inline void image_section_set(struct elf_image *image, enum image_section number,
				     const char *name, Elf64_Shdr values)
{
	values.sh_name = image_string(image, SECTION_NAMES, name);
	if (number == SECTION_NAMES)
		values.sh_size = image_section(image, SECTION_NAMES)->sh_size;
	*image_section(image, number) = values;
}

static inline void image_sections_init(struct elf_image *image)
{
	*image_section(image, SECTION_NAMES) =
		(Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = IMAGE_SECTION_NAMES, .sh_size = 1};
	image_section_set(
		image, SECTION_BUILD_ID, ".note.gnu.build-id",
		(Elf64_Shdr){.sh_type = SHT_NOTE, .sh_offset = IMAGE_BUILD_ID, .sh_addralign = 4});
	image_section_set(image, SECTION_TEXT, ".text",
			  (Elf64_Shdr){.sh_type = SHT_PROGBITS,
				       .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				       .sh_addr = IMAGE_TEXT_ADDRESS,
				       .sh_offset = IMAGE_TEXT,
				       .sh_size = IMAGE_TEXT_BYTES});
	image_section_set(image, SECTION_BASE, ".stapsdt.base",
			  (Elf64_Shdr){.sh_type = SHT_PROGBITS,
				       .sh_flags = SHF_ALLOC,
				       .sh_addr = 0x601000,
				       .sh_size = 1});
	image_section_set(image, SECTION_DATA, ".data",
			  (Elf64_Shdr){.sh_type = SHT_PROGBITS,
				       .sh_flags = SHF_ALLOC | SHF_WRITE,
				       .sh_addr = IMAGE_DATA_ADDRESS,
				       .sh_offset = IMAGE_DATA,
				       .sh_size = 0x100});
	image_section_set(
		image, SECTION_PROBES, ".note.stapsdt",
		(Elf64_Shdr){.sh_type = SHT_NOTE, .sh_offset = IMAGE_PROBES, .sh_addralign = 4});
	image_section_set(image, SECTION_SYMBOLS, ".symtab",
			  (Elf64_Shdr){.sh_type = SHT_SYMTAB,
				       .sh_offset = IMAGE_SYMBOLS,
				       .sh_size = sizeof(Elf64_Sym),
				       .sh_link = SECTION_STRINGS,
				       .sh_entsize = sizeof(Elf64_Sym)});
	image_section_set(
		image, SECTION_STRINGS, ".strtab",
		(Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = IMAGE_STRINGS, .sh_size = 1});
	image_section_set(image, SECTION_DYNAMIC, ".dynsym",
			  (Elf64_Shdr){.sh_type = SHT_DYNSYM,
				       .sh_offset = IMAGE_DYNAMIC,
				       .sh_size = sizeof(Elf64_Sym),
				       .sh_link = SECTION_DYNAMIC_STRINGS,
				       .sh_entsize = sizeof(Elf64_Sym)});
	image_section_set(image, SECTION_DYNAMIC_STRINGS, ".dynstr",
			  (Elf64_Shdr){.sh_type = SHT_STRTAB,
				       .sh_offset = IMAGE_DYNAMIC_STRINGS,
				       .sh_size = 1});
	image_section_set(image, SECTION_NAMES, ".shstrtab",
			  (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = IMAGE_SECTION_NAMES});
}

static inline void image_init(struct elf_image *image)
{
	memset(image, 0, sizeof(*image));
	*image_header(image) = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_entry = IMAGE_TEXT_ADDRESS,
		.e_phoff = IMAGE_SEGMENTS,
		.e_shoff = IMAGE_SECTIONS,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTION_COUNT,
		.e_shstrndx = SECTION_NAMES,
	};
	*image_segment(image, 0) = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = IMAGE_TEXT,
		.p_vaddr = IMAGE_TEXT_ADDRESS,
		.p_filesz = IMAGE_TEXT_BYTES,
		.p_memsz = IMAGE_TEXT_BYTES,
	};
	*image_segment(image, 1) = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_W,
		.p_offset = IMAGE_DATA,
		.p_vaddr = IMAGE_DATA_ADDRESS,
		.p_filesz = 0x100,
		.p_memsz = 0x200,
	};
	*image_segment(image, 2) = (Elf64_Phdr){
		.p_type = PT_NOTE,
		.p_offset = IMAGE_BUILD_ID,
		.p_filesz = 0x24,
		.p_align = 4,
	};
	image_sections_init(image);
	image_note(image, SECTION_BUILD_ID, ELF_NOTE_GNU, NT_GNU_BUILD_ID, "0123456789abcdefghij",
		   20);
}

#endif
