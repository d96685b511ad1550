/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program of Go in an ELF image: a function with two inlined calls, of which one is inside of the
 * other, a function without tables, and a signal trampoline.
 *
 *   main.outer                    +0    0x40 bytes
 *     main.middle (inlined)       +0x10 to +0x20, called at +8
 *       main.inner (inlined)      +0x14 to +0x18, called at +0x10
 *   main.leaf                     +0x40
 *   runtime.sigreturn__sigaction  +0x50 to +0x60
 */
#ifndef JITBPF_TESTS_MADE_GO_H
#define JITBPF_TESTS_MADE_GO_H

#include "tests/unit/decode/elf_image.h"

#define GO_TEXT		  IMAGE_TEXT_ADDRESS
#define GO_TABLE	  IMAGE_PROBES
#define GO_TABLE_BYTES	  0x400
#define GO_TABLE_ADDRESS  0x500000
#define GO_MODULE	  0x80	/* in the data */
#define GO_CALLS	  0x200 /* in the data: the inlined calls */
#define GO_DATA_BYTES	  0x300
#define GO_RELOCATIONS	  (IMAGE_DYNAMIC + 0x100)
#define GO_NAMES	  0x50
#define GO_UNITS	  0xb0
#define GO_FILES	  0xc0
#define GO_VALUES	  0x100
#define GO_FUNCTIONS	  0x180
#define GO_FUNCTION_COUNT 3
#define GO_NONE		  UINT32_MAX

struct go_maker {
	struct elf_image *image;
	bool old;	/* of Go 1.18 or 1.19 */
	bool relocated; /* addresses are relocations */
	uint32_t values_at, names_at, relocations;
};

static inline void go_put(struct go_maker *go, uint32_t at, const void *bytes, size_t size_bytes)
{
	memcpy(go->image->bytes + GO_TABLE + at, bytes, size_bytes);
}

static inline void go_put_word(struct go_maker *go, uint32_t at, uint32_t word)
{
	go_put(go, at, &word, sizeof(word));
}

static inline uint32_t go_name(struct go_maker *go, const char *name)
{
	uint32_t at = go->names_at;

	go_put(go, GO_NAMES + at, name, strlen(name) + 1);
	go->names_at += strlen(name) + 1;
	return at;
}

struct go_value {
	uint32_t end;
	int32_t value;
};

/* Add a table of values, which ends with an entry whose end is 0. Returns its place. */
static inline uint32_t go_values_put(struct go_maker *go, const struct go_value *values)
{
	uint32_t at = go->values_at, begin = 0;
	int32_t before = -1;

	for (; values->end; values++) {
		int32_t difference = values->value - before;
		/* All fit into one byte. */
		uint8_t bytes[] = {
			(uint8_t)((uint32_t)difference << 1 ^ (uint32_t)(difference >> 31)),
			(uint8_t)(values->end - begin)};

		go_put(go, GO_VALUES + go->values_at, bytes, sizeof(bytes));
		go->values_at += sizeof(bytes);
		before = values->value;
		begin = values->end;
	}
	go->values_at++; /* a zero ends it */
	return at;
}

/* Add a function's fields. Returns the place behind them. */
static inline uint32_t go_function_put(struct go_maker *go, uint32_t number, uint32_t at,
				       uint32_t start, const char *name, const uint32_t tables[3],
				       uint32_t values_count, uint8_t data_count)
{
	uint32_t fields[] = {start,	go_name(go, name), 0, 0, tables[0], tables[1],
			     tables[2], values_count,	   0, 7};
	uint8_t tail[] = {0, 0, 0, data_count};
	uint32_t fields_bytes = sizeof(fields) - (go->old ? sizeof(*fields) : 0);
	uint32_t entry[] = {start, at};

	go_put(go, GO_FUNCTIONS + 8 * number, entry, sizeof(entry));
	go_put(go, GO_FUNCTIONS + at, fields, fields_bytes);
	go_put(go, GO_FUNCTIONS + at + fields_bytes, tail, sizeof(tail));
	return at + fields_bytes + sizeof(tail);
}

/* Set a word of the data, or a relocation for it. */
static inline void go_address_put(struct go_maker *go, uint32_t at, uint64_t address)
{
	Elf64_Rela relocation = {
		.r_offset = IMAGE_DATA_ADDRESS + at,
		.r_info = ELF64_R_INFO(0, R_X86_64_RELATIVE),
		.r_addend = (int64_t)address,
	};

	if (go->relocated)
		memcpy(go->image->bytes + GO_RELOCATIONS + go->relocations++ * sizeof(relocation),
		       &relocation, sizeof(relocation));
	else
		memcpy(go->image->bytes + IMAGE_DATA + at, &address, sizeof(address));
}

static inline void go_module_put(struct go_maker *go)
{
	uint64_t functions = GO_FUNCTION_COUNT + 1;

	go_address_put(go, GO_MODULE, GO_TABLE_ADDRESS);
	memcpy(go->image->bytes + IMAGE_DATA + GO_MODULE + 17 * 8, &functions, sizeof(functions));
	go_address_put(go, GO_MODULE + 20 * 8, GO_TEXT);
	go_address_put(go, GO_MODULE + 21 * 8, GO_TEXT + 0x60);
	go_address_put(go, GO_MODULE + 22 * 8, GO_TEXT);
	go_address_put(go, GO_MODULE + 23 * 8, GO_TEXT + 0x60);
	go_address_put(go, GO_MODULE + (go->old ? 38 : 40) * 8, IMAGE_DATA_ADDRESS);
}

static inline void go_call_put(struct go_maker *go, uint32_t number, uint32_t name, uint32_t parent)
{
	uint32_t call[] = {0, name, parent, 5};
	uint32_t old_call[] = {0, 0, 0, name, parent};
	uint8_t *at = go->image->bytes + IMAGE_DATA + GO_CALLS;

	if (go->old)
		memcpy(at + number * sizeof(old_call), old_call, sizeof(old_call));
	else
		memcpy(at + number * sizeof(call), call, sizeof(call));
}

static inline void go_functions_put(struct go_maker *go)
{
	const uint32_t none[3] = {0};
	uint32_t tables[3], tree, behind, last = GO_FUNCTIONS + 8 * GO_FUNCTION_COUNT;

	tables[0] = go_values_put(go, (struct go_value[]){{1, 0}, {0x3f, 24}, {0x40, 0}, {0}});
	tables[1] = go_values_put(go, (struct go_value[]){{0x10, 0}, {0x20, 1}, {0x40, 0}, {0}});
	tables[2] = go_values_put(
		go, (struct go_value[]){
			    {0x10, 10}, {0x14, 20}, {0x18, 30}, {0x20, 21}, {0x40, 11}, {0}});
	tree = go_values_put(
		go,
		(struct go_value[]){{0x10, -1}, {0x14, 0}, {0x18, 1}, {0x20, 0}, {0x40, -1}, {0}});
	behind = go_function_put(go, 0, 0x20, 0, "main.outer", tables, 3, 4);
	go_put_word(go, GO_FUNCTIONS + behind + 2 * 4, tree);
	for (uint32_t i = 0; i < 3; i++)
		go_put_word(go, GO_FUNCTIONS + behind + (3 + i) * 4, GO_NONE);
	go_put_word(go, GO_FUNCTIONS + behind + (3 + 3) * 4, GO_CALLS);
	behind = go_function_put(go, 1, behind + 7 * 4, 0x40, "main.leaf", none, 0, 0);
	go_function_put(go, 2, behind, 0x50, "runtime.sigreturn__sigaction", none, 0, 0);
	go_put_word(go, last, 0x60);
	go_call_put(go, 0, go_name(go, "main.middle"), 8);
	go_call_put(go, 1, go_name(go, "main.inner"), 0x10);
}

/* Make the program. */
static inline void go_image_init(struct elf_image *image, bool old, bool relocated)
{
	struct go_maker go = {.image = image, .old = old, .relocated = relocated, .values_at = 1};
	uint64_t header[9] = {old ? 0xfffffff0 : 0xfffffff1,
			      GO_FUNCTION_COUNT,
			      2,
			      0,
			      GO_NAMES,
			      GO_UNITS,
			      GO_FILES,
			      GO_VALUES,
			      GO_FUNCTIONS};

	image_init(image);
	image_section_set(image, SECTION_PROBES, ".gopclntab",
			  (Elf64_Shdr){.sh_type = SHT_PROGBITS,
				       .sh_flags = SHF_ALLOC,
				       .sh_addr = GO_TABLE_ADDRESS,
				       .sh_offset = GO_TABLE,
				       .sh_size = GO_TABLE_BYTES});
	image_section(image, SECTION_DATA)->sh_size = GO_DATA_BYTES;
	image_segment(image, 1)->p_filesz = image_segment(image, 1)->p_memsz = GO_DATA_BYTES;
	go_put(&go, 0, header, sizeof(header));
	image->bytes[GO_TABLE + 6] = 1;
	image->bytes[GO_TABLE + 7] = 8;
	go_put(&go, GO_FILES, "outer.go", 9);
	go_put(&go, GO_FILES + 9, "inner.go", 9);
	go_put_word(&go, GO_UNITS + 4, 9);
	go_functions_put(&go);
	go_module_put(&go);
	image_section_set(image, SECTION_BASE, ".rela.dyn",
			  (Elf64_Shdr){.sh_type = SHT_RELA,
				       .sh_flags = SHF_ALLOC,
				       .sh_offset = GO_RELOCATIONS,
				       .sh_size = go.relocations * sizeof(Elf64_Rela)});
}

#endif
