/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file without symbols that has V8's builtins and their table. Each builtin is V8_SLOT_BYTES of
 * code behind the one before: a return, until a test places other code there.
 */
#ifndef JITBPF_TESTS_V8_IMAGE_H
#define JITBPF_TESTS_V8_IMAGE_H

#include "tests/unit/decode/elf_image.h"

#define V8_IMAGE_BUILTINS 64
#define V8_SLOT_BYTES	  32
#define V8_CODE_BYTES	  (V8_IMAGE_BUILTINS * V8_SLOT_BYTES)
#define V8_TEXT_BYTES	  0x1000
#define V8_CODE_AT	  0x460 /* in the text */
#define V8_CODE		  (IMAGE_TEXT_ADDRESS + V8_CODE_AT)
#define V8_DATA		  IMAGE_PROBES
#define V8_DATA_BYTES	  0x1000
#define V8_TABLE_AT	  0x98 /* in the data */

/* Set an entry of the table. */
static inline void v8_image_entry(struct elf_image *image, size_t entry_bytes, uint32_t number,
				  uint32_t offset, uint32_t size_bytes)
{
	uint8_t *at = image->bytes + V8_DATA + V8_TABLE_AT + number * entry_bytes;

	memcpy(at, &offset, sizeof(offset));
	memcpy(at + sizeof(offset), &size_bytes, sizeof(size_bytes));
}

/* Set the code of a builtin, of less than V8_SLOT_BYTES. */
static inline void v8_image_code(struct elf_image *image, size_t entry_bytes, uint32_t number,
				 const void *code, uint32_t size_bytes)
{
	uint8_t *at = image->bytes + IMAGE_TEXT + V8_CODE_AT + number * V8_SLOT_BYTES;

	memset(at, 0xcc, V8_SLOT_BYTES);
	memcpy(at, code, size_bytes);
	v8_image_entry(image, entry_bytes, number, number * V8_SLOT_BYTES, size_bytes);
}

static inline void v8_image_init(struct elf_image *image, size_t entry_bytes)
{
	image_init(image);
	image_header(image)->e_shnum = image_header(image)->e_shstrndx = 0;
	image_segment(image, 0)->p_filesz = image_segment(image, 0)->p_memsz = V8_TEXT_BYTES;
	image_segment(image, 1)->p_offset = V8_DATA;
	image_segment(image, 1)->p_vaddr = IMAGE_DATA_ADDRESS - IMAGE_DATA + V8_DATA;
	image_segment(image, 1)->p_filesz = image_segment(image, 1)->p_memsz = V8_DATA_BYTES;
	memset(image->bytes + V8_DATA, 0xff, V8_DATA_BYTES);
	memset(image->bytes + IMAGE_TEXT, 0x90, V8_TEXT_BYTES);
	for (uint32_t i = 0; i < V8_IMAGE_BUILTINS; i++)
		v8_image_code(image, entry_bytes, i, "\xc3\xc3", 1 + i % 2);
}

#endif
