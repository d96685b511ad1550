/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/cfi/body_row.h"
#include "tests/unit/decode/cfi/frame_image.h"

static void add_symbol(struct image *image, const char *name, uint64_t offset, uint64_t size_bytes)
{
	Elf64_Shdr *symbols = section(image, SECTION_SYMBOLS);
	Elf64_Shdr *strings = section(image, SECTION_STRINGS);
	Elf64_Sym symbol = {.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			    .st_shndx = SECTION_FRAMES,
			    .st_value = CODE(offset),
			    .st_size = size_bytes};

	if (!symbols->sh_size) {
		*symbols = (Elf64_Shdr){.sh_type = SHT_DYNSYM,
					.sh_offset = SYMBOLS,
					.sh_size = sizeof(symbol),
					.sh_link = SECTION_STRINGS,
					.sh_entsize = sizeof(symbol)};
		*strings = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = STRINGS, .sh_size = 1};
	}
	symbol.st_name = (uint32_t)strings->sh_size;
	memcpy(image->bytes + STRINGS + strings->sh_size, name, strlen(name) + 1);
	strings->sh_size += strlen(name) + 1;
	memcpy(image->bytes + SYMBOLS + symbols->sh_size, &symbol, sizeof(symbol));
	symbols->sh_size += sizeof(symbol);
}

CASE_WITH(test_body_row, setup, teardown)
{
	/* CFA offset 8 for 4 bytes, 64 for 16, 8 for 8, 64 for 12, 32 for the last 24. */
	static const uint8_t code[] = {
		DWARF_CFA_ADVANCE_LOC | 4,  DWARF_CFA_DEF_CFA_OFFSET, 64,
		DWARF_CFA_ADVANCE_LOC | 16, DWARF_CFA_DEF_CFA_OFFSET, 8,
		DWARF_CFA_ADVANCE_LOC | 8,  DWARF_CFA_DEF_CFA_OFFSET, 64,
		DWARF_CFA_ADVANCE_LOC | 12, DWARF_CFA_DEF_CFA_OFFSET, 32,
	};
	struct image *image = *state;
	struct unwind_row row;
	size_t at = frames_fde_begin(&image->frames, image->cie, FRAMES_USUAL, CODE(0xffe0), 64);

	frames_add(&image->frames, code, sizeof(code));
	frames_end(&image->frames, at);
	place_frames(image);
	add_symbol(image, "empty", 0xffe0, 0);
	add_symbol(image, "huge", 0xffe0, 1ull << 40);
	add_symbol(image, "body", 0xffe0, 64);
	add_symbol(image, "bodyguard", 0xf000, 64);
	assert_int_equal(unwind_file_create(&image->blob, &image->file), 0);
	assert_int_equal(body_row_find(image->file, "body", &row), 0);
	assert_int_equal(row.cfa, UNWIND_CFA(UNWIND_CFA_RSP, 64));
	assert_int_equal(row.rbp, UNWIND_RBP_KEPT);
	assert_int_equal(row.pc, 0);
	assert_int_equal(body_row_find(image->file, "bodyguard", &row), 0);
	assert_int_equal(row.cfa, UNWIND_CFA_COMMAND(UNWIND_FRAME_POINTER));
	assert_int_equal(body_row_find(image->file, "bod", &row), -ENOENT);
	assert_int_equal(body_row_find(image->file, "empty", &row), -ENOENT);
	assert_int_equal(body_row_find(image->file, "huge", &row), -ENOENT);
}

CASE_WITH(test_body_row_without_symbols, setup, teardown)
{
	struct image *image = *state;
	struct unwind_row row;

	assert_int_equal(unwind_file_create(&image->blob, &image->file), 0);
	assert_int_equal(body_row_find(image->file, "body", &row), -ENOENT);
}
