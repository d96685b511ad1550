/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes generated seeds of fuzz_elf into a directory. To be run by hand:
 *   gcc -std=gnu11 -D_GNU_SOURCE -I. -Iuser tests/fuzz/seed/elf.c -o build/seed &&
 *       build/seed tests/fuzz/corpus/elf
 */
#include <stdio.h>

#include "tests/unit/decode/elf_image.h"

#define FUNC ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define TEXT IMAGE_TEXT_ADDRESS

static struct elf_image image;

static int save(const char *folder, const char *name, size_t size_bytes)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "wb");
	return !f || fwrite(image.bytes, 1, size_bytes, f) != size_bytes || fclose(f);
}

static void fill(void)
{
	image_init(&image);
	image_symbol(&image, SECTION_SYMBOLS, "outer", TEXT, 0x100, FUNC);
	image_symbol(&image, SECTION_SYMBOLS, "inner", TEXT + 0x10, 0x20, FUNC);
	image_symbol(&image, SECTION_SYMBOLS, "alias@@V", TEXT, 0x200, FUNC);
	image_symbol(&image, SECTION_SYMBOLS, "unsized", TEXT + 0x300, 0, FUNC);
	image_symbol(&image, SECTION_SYMBOLS, "wide", TEXT + 0x400, UINT64_MAX - TEXT - 0x400,
		     FUNC);
	image_symbol(&image, SECTION_SYMBOLS, "wraps", TEXT, UINT64_MAX, FUNC);
	image_symbol(&image, SECTION_DYNAMIC, "_Z3fooi", TEXT, 8, FUNC);
	image_probe(&image, TEXT + 0x40, 0x601000, IMAGE_DATA_ADDRESS + 6, "jitbpf", "event");
}

static void number_through_the_first_section(void)
{
	Elf64_Shdr *first = image_section(&image, SECTION_NULL);

	image_header(&image)->e_shnum = 0;
	image_header(&image)->e_shstrndx = SHN_XINDEX;
	image_header(&image)->e_phnum = PN_XNUM;
	first->sh_size = SECTION_COUNT;
	first->sh_link = SECTION_NAMES;
	first->sh_info = 2;
}

static void lie(void)
{
	Elf64_Nhdr *note = (Elf64_Nhdr *)(image.bytes + IMAGE_BUILD_ID);

	note->n_namesz = UINT32_MAX;
	image_section(&image, SECTION_SYMBOLS)->sh_link = SECTION_SYMBOLS;
	image_section(&image, SECTION_DYNAMIC)->sh_link = SECTION_NAMES;
	image_section(&image, SECTION_NAMES)->sh_offset = UINT64_MAX - 3;
	image_section(&image, SECTION_PROBES)->sh_addralign = 8;
	image_segment(&image, 1)->p_vaddr = UINT64_MAX;
	image_segment(&image, 2)->p_align = 8;
}

int main(int argc, char **argv)
{
	int failed;

	if (argc != 2)
		return 2;
	fill();
	failed = save(argv[1], "made", IMAGE_BYTES);
	failed |= save(argv[1], "nasty-cut", IMAGE_SECTIONS + 100);
	number_through_the_first_section();
	failed |= save(argv[1], "nasty-extended", IMAGE_BYTES);
	fill();
	lie();
	return failed | save(argv[1], "nasty-lies", IMAGE_BYTES);
}
