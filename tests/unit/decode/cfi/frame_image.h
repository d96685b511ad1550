/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An ELF file with call frame information, made in memory; and comparisons of its rows. */
#ifndef JITBPF_TESTS_UNIT_DECODE_CFI_FRAME_IMAGE_H
#define JITBPF_TESTS_UNIT_DECODE_CFI_FRAME_IMAGE_H

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "decode/cfi/unwind_file.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/made_frames.h"

/* File offsets of the parts. The load address is ADDRESS higher, which is no multiple of a page. */
#define ADDRESS	      0x401000
#define TEXT	      0xf000
#define TEXT_END      0x21000
#define HEADER	      0x22000
#define FRAMES	      0x23000
#define DEBUG	      0x28000
#define SYMBOLS	      0x2d000
#define STRINGS	      0x2d800
#define SECTION_NAMES 0x2e000
#define SECTIONS      0x2e800
#define IMAGE_BYTES   0x2f000

#define CODE(offset) (ADDRESS + (offset)) /* the address of a file offset */

enum { SEGMENT_TEXT, SEGMENT_FRAMES, SEGMENT_HEADER, SEGMENT_COUNT };
enum {
	SECTION_FRAMES = 1,
	SECTION_DEBUG,
	SECTION_SYMBOLS,
	SECTION_STRINGS,
	SECTION_NAMED,
	SECTION_COUNT
};

struct image {
	uint8_t bytes[IMAGE_BYTES];
	struct made_frames frames, debug;
	size_t cie, debug_cie;
	struct made_frames header;
	struct blob blob;
	int fails_after; /* number of reads before EIO; -1 for no error */
	struct unwind_file *file;
};

static inline Elf64_Phdr *segment(struct image *image, unsigned number)
{
	return (Elf64_Phdr *)(image->bytes + sizeof(Elf64_Ehdr)) + number;
}

static inline Elf64_Shdr *section(struct image *image, unsigned number)
{
	return (Elf64_Shdr *)(image->bytes + SECTIONS) + number;
}

static inline uint32_t name_add(struct image *image, const char *name)
{
	Elf64_Shdr *names = section(image, SECTION_NAMED);
	uint32_t at = (uint32_t)names->sh_size;

	memcpy(image->bytes + SECTION_NAMES + at, name, strlen(name) + 1);
	names->sh_size += strlen(name) + 1;
	return at;
}

static inline int image_read(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	struct image *image = context;

	if (!image->fails_after)
		return -EIO;
	image->fails_after -= image->fails_after > 0;
	memcpy(buf, image->bytes + offset, size_bytes);
	return 0;
}

static inline void headers_init(struct image *image)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)image->bytes;

	*header = (Elf64_Ehdr){
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_phoff = sizeof(*header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = SEGMENT_COUNT,
		.e_shoff = SECTIONS,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTION_COUNT,
		.e_shstrndx = SECTION_NAMED,
	};
	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = ELFCLASS64;
	header->e_ident[EI_DATA] = ELFDATA2LSB;
	header->e_ident[EI_VERSION] = EV_CURRENT;
	*segment(image, SEGMENT_TEXT) = (Elf64_Phdr){.p_type = PT_LOAD,
						     .p_flags = PF_R | PF_X,
						     .p_offset = TEXT,
						     .p_vaddr = CODE(TEXT),
						     .p_filesz = TEXT_END - TEXT,
						     .p_memsz = TEXT_END - TEXT};
	*segment(image, SEGMENT_FRAMES) = (Elf64_Phdr){.p_type = PT_LOAD,
						       .p_flags = PF_R,
						       .p_offset = HEADER,
						       .p_vaddr = CODE(HEADER),
						       .p_filesz = DEBUG - HEADER,
						       .p_memsz = DEBUG - HEADER};
	*section(image, SECTION_NAMED) =
		(Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = SECTION_NAMES, .sh_size = 1};
}

static inline int setup(void **state)
{
	struct image *image = calloc(1, sizeof(*image));

	assert_non_null(image);
	headers_init(image);
	image->fails_after = -1;
	image->blob = (struct blob){IMAGE_BYTES, image_read, NULL, image};
	image->frames.address = CODE(FRAMES);
	image->cie = frames_cie(&image->frames, FRAMES_USUAL);
	image->debug.is_debug = true;
	image->debug_cie = frames_cie(&image->debug, 0);
	*state = image;
	return 0;
}

static inline int teardown(void **state)
{
	struct image *image = *state;

	unwind_file_destroy(image->file);
	free(image);
	return 0;
}

static inline void section_place(struct image *image, unsigned number, const char *name,
				 Elf64_Shdr values, const struct made_frames *frames)
{
	values.sh_name = name_add(image, name);
	values.sh_size = frames->size;
	*section(image, number) = values;
	memcpy(image->bytes + values.sh_offset, frames->bytes, frames->size);
}

/* Place .eh_frame at its load address, with a section header. */
static inline void place_frames(struct image *image)
{
	section_place(
		image, SECTION_FRAMES, ".eh_frame",
		(Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_offset = FRAMES, .sh_addr = CODE(FRAMES)},
		&image->frames);
}

static inline void place_debug(struct image *image)
{
	section_place(image, SECTION_DEBUG, ".debug_frame",
		      (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_offset = DEBUG}, &image->debug);
}

/* Begin .eh_frame_hdr, with a table of `count` entries in an encoding. */
static inline void header_begin(struct image *image, uint8_t encoding, uint32_t count)
{
	struct made_frames *header = &image->header;

	*header = (struct made_frames){.address = CODE(HEADER)};
	frames_uint(header, 1, 1);
	frames_uint(header, FRAMES_USUAL, 1);
	frames_uint(header, DWARF_EH_PE_UDATA4, 1);
	frames_uint(header, encoding, 1);
	frames_pointer(header, FRAMES_USUAL, CODE(FRAMES));
	frames_uint(header, count, 4);
}

#define TABLE_USUAL (DWARF_EH_PE_DATAREL | DWARF_EH_PE_SDATA4)

static inline void header_add(struct image *image, uint8_t encoding, uint64_t start, size_t fde)
{
	uint64_t base = (encoding & DWARF_EH_PE_BASE) == DWARF_EH_PE_DATAREL ? CODE(HEADER) : 0;

	frames_pointer(&image->header, encoding, start - base);
	frames_pointer(&image->header, encoding, CODE(FRAMES) + fde - base);
}

static inline void place_header(struct image *image)
{
	*segment(image, SEGMENT_HEADER) = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME,
						       .p_offset = HEADER,
						       .p_vaddr = CODE(HEADER),
						       .p_filesz = image->header.size,
						       .p_memsz = image->header.size};
	memcpy(image->bytes + HEADER, image->header.bytes, image->header.size);
}

static inline const char *row_text(const struct unwind_row *row)
{
	static const char *const commands[] = {"not-made", "unknown", "root",
					       "plt",	   "signal",  "guess"};
	static char text[32];
	int offset = row->cfa & ~UNWIND_RULE_MASK;

	if ((row->cfa & UNWIND_RULE_MASK) == UNWIND_COMMAND)
		return commands[offset / 8];
	snprintf(text, sizeof(text), "%d", offset);
	return text;
}

/* Compare the rows of a page with "OFFSET:CFA ...", all relative to rsp. */
static inline void assert_page(struct image *image, uint32_t page, const char *expected)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};
	char text[1024] = "";

	if (!image->file)
		assert_int_equal(unwind_file_create(&image->blob, &image->file), 0);
	assert_int_equal(unwind_file_page(image->file, page, &rows), 0);
	vec_for_each (row, &rows.rows) {
		struct unwind_row held = unwind_rows_at(&rows, row->offset);
		size_t length = strlen(text);

		snprintf(text + length, sizeof(text) - length, "%s%x:%s", length ? " " : "",
			 row->offset, row_text(&held));
	}
	assert_string_equal(text, expected);
}

#endif
