/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The input as machine code: each step goes on, stays inside, and gives printable text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/x86/disassembly.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/seeds.h"

SEEDS(5);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void walk(const struct disassembler *disassembler, const uint8_t *code, size_t size_bytes)
{
	for (size_t at = 0; at < size_bytes;) {
		struct disassembled text;

		disassemble(disassembler, code + at, size_bytes - at, UINT64_MAX - 8 + at, &text);
		CHECK(text.length && text.length <= size_bytes - at);
		CHECK(*text.text && strnlen(text.text, sizeof(text.text)) < sizeof(text.text));
		for (const char *s = text.text; *s; s++)
			CHECK(*s >= ' ' && *s < 127);
		at += text.length;
	}
}

/* The copy has exactly its size, so that sanitizers detect reads beyond it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	uint8_t *code = malloc(size_bytes ?: 1);

	CHECK(code);
	memcpy(code, data, size_bytes);
	seed_taken();
	for (int kind = 0; kind < 4; kind++) {
		struct disassembler disassembler;

		CHECK(!disassembler_init(&disassembler,
					 kind & 1 ? DISASSEMBLY_INTEL : DISASSEMBLY_ATT, kind & 2));
		walk(&disassembler, code, size_bytes);
	}
	free(code);
	return 0;
}
