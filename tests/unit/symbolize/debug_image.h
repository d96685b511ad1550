/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An ELF file with one DWARF 5 unit, built from the bytes that a test puts into
 * its sections. Its code is at DEBUG_TEXT.
 */
#ifndef JITBPF_TESTS_DEBUG_IMAGE_H
#define JITBPF_TESTS_DEBUG_IMAGE_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "base/vec.h"

#define DEBUG_TEXT	 0x401000
#define DEBUG_TEXT_BYTES 0x1000

struct bytes {
	VEC(uint8_t) v;
};

static inline void put(struct bytes *to, const void *data, size_t size_bytes)
{
	if (vec_reserve(&to->v, to->v.size + size_bytes))
		abort();
	memcpy(to->v.data + to->v.size, data, size_bytes);
	to->v.size += size_bytes;
}

static inline void put_uint(struct bytes *to, uint64_t value, size_t size_bytes)
{
	put(to, &value, size_bytes);
}

static inline void put_string(struct bytes *to, const char *s)
{
	put(to, s, strlen(s) + 1);
}

static inline void put_fill(struct bytes *to, uint8_t value, size_t count)
{
	while (count--)
		put(to, &value, 1);
}

#define PUT(to, ...) put(to, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

enum {
	IMAGE_INFO = 1,
	IMAGE_ABBREV,
	IMAGE_LINE,
	IMAGE_STR,
	IMAGE_ARANGES,
	IMAGE_NAMES,
	IMAGE_SECTION_COUNT
};

struct debug_image {
	struct bytes sections[IMAGE_SECTION_COUNT];
	uint64_t flags[IMAGE_SECTION_COUNT]; /* sh_flags */
	struct bytes file;
};

/* Begin the unit: header, and first DIE (abbreviation 1), which covers the text. */
static inline void image_begin(struct debug_image *image)
{
	struct bytes *info = &image->sections[IMAGE_INFO];
	struct bytes *abbrev = &image->sections[IMAGE_ABBREV];

	*image = (struct debug_image){0};
	put_uint(info, 0, 4);
	PUT(info, 5, 0, 1, 8, 0, 0, 0, 0);
	PUT(info, 1);
	put_uint(info, DEBUG_TEXT, 8);
	put_uint(info, DEBUG_TEXT_BYTES, 4);
	put_uint(info, 0, 4);
	/* compile unit: low_pc addr, high_pc data4, stmt_list sec_offset */
	PUT(abbrev, 1, 0x11, 1, 0x11, 0x01, 0x12, 0x06, 0x10, 0x17, 0, 0);
	/* function: name string, low_pc addr, high_pc data4 */
	PUT(abbrev, 2, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0);
	/* inlined: abstract_origin ref4, low_pc addr, high_pc data4, call_file and call_line data1
	 */
	PUT(abbrev, 3, 0x1d, 1, 0x31, 0x13, 0x11, 0x01, 0x12, 0x06, 0x58, 0x0b, 0x59, 0x0b, 0, 0);
	/* abstract: abstract_origin ref4, no children */
	PUT(abbrev, 4, 0x2e, 0, 0x31, 0x13, 0, 0);
	/* abstract: name string, no children */
	PUT(abbrev, 5, 0x2e, 0, 0x03, 0x08, 0, 0);
}

static inline void image_function(struct debug_image *image, const char *name)
{
	struct bytes *info = &image->sections[IMAGE_INFO];

	PUT(info, 2);
	put_string(info, name);
	put_uint(info, DEBUG_TEXT, 8);
	put_uint(info, DEBUG_TEXT_BYTES, 4);
}

static inline void image_inlined(struct debug_image *image, uint32_t origin)
{
	struct bytes *info = &image->sections[IMAGE_INFO];

	PUT(info, 3);
	put_uint(info, origin, 4);
	put_uint(info, DEBUG_TEXT, 8);
	put_uint(info, DEBUG_TEXT_BYTES, 4);
	PUT(info, 1, 9);
}

/* A line program header with one file, "a.c" in "/src"; opcodes follow. */
static inline void image_lines(struct debug_image *image)
{
	struct bytes *line = &image->sections[IMAGE_LINE];

	put_uint(line, 0, 4);
	PUT(line, 5, 0, 8, 0);
	put_uint(line, 43, 4);
	PUT(line, 1, 1, 1, (uint8_t)-5, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1);
	PUT(line, 1, 1, 0x08, 1);
	put_string(line, "/src");
	PUT(line, 2, 1, 0x08, 2, 0x0b, 2);
	put_string(line, "a.c");
	PUT(line, 0);
	put_string(line, "a.c");
	PUT(line, 0);
	PUT(line, 0, 9, 2);
	put_uint(line, DEBUG_TEXT, 8);
}

static inline uint32_t image_name(struct bytes *names, const char *name)
{
	uint32_t at = (uint32_t)names->v.size;

	put_string(names, name);
	return at;
}

/* Complete the unit and the line program, and lay out the sections. */
static inline void image_finish(struct debug_image *image)
{
	static const char *const names[] = {
		"",	      ".debug_info",	".debug_abbrev", ".debug_line",
		".debug_str", ".debug_aranges", ".shstrtab"};
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = IMAGE_SECTION_COUNT,
		.e_shstrndx = IMAGE_NAMES,
	};
	Elf64_Phdr text = {.p_type = PT_LOAD,
			   .p_flags = PF_X,
			   .p_vaddr = DEBUG_TEXT,
			   .p_filesz = DEBUG_TEXT_BYTES,
			   .p_memsz = DEBUG_TEXT_BYTES};
	Elf64_Shdr sections[IMAGE_SECTION_COUNT] = {0};
	struct bytes *info = &image->sections[IMAGE_INFO], *line = &image->sections[IMAGE_LINE];
	uint32_t length;

	PUT(&image->sections[IMAGE_ABBREV], 0);
	length = (uint32_t)info->v.size - 4;
	memcpy(info->v.data, &length, 4);
	length = (uint32_t)line->v.size - 4;
	if (line->v.size)
		memcpy(line->v.data, &length, 4);
	put_string(&image->sections[IMAGE_NAMES], "");
	for (int i = 1; i < IMAGE_SECTION_COUNT; i++)
		sections[i].sh_name = image_name(&image->sections[IMAGE_NAMES], names[i]);
	put(&image->file, &header, sizeof(header));
	put(&image->file, &text, sizeof(text));
	for (int i = 1; i < IMAGE_SECTION_COUNT; i++) {
		struct bytes *section = &image->sections[i];

		sections[i].sh_type = i == IMAGE_NAMES ? SHT_STRTAB : SHT_PROGBITS;
		sections[i].sh_flags = image->flags[i];
		sections[i].sh_offset = image->file.v.size;
		sections[i].sh_size = section->v.size;
		if (section->v.size)
			put(&image->file, section->v.data, section->v.size);
	}
	header.e_shoff = image->file.v.size;
	memcpy(image->file.v.data, &header, sizeof(header));
	put(&image->file, sections, sizeof(sections));
}

static inline void image_deinit(struct debug_image *image)
{
	for (int i = 1; i < IMAGE_SECTION_COUNT; i++)
		vec_deinit(&image->sections[i].v);
	vec_deinit(&image->file.v);
}

#endif
