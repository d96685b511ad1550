/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The text of machine code, one instruction at a time. The code is untrusted. */
#ifndef JITBPF_DECODE_X86_DISASSEMBLY_H
#define JITBPF_DECODE_X86_DISASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <Zydis/Zydis.h>

#define DISASSEMBLY_TEXT_MAX 160 /* bytes, with the NUL */

/* The order of operands, and how they are written. */
enum disassembly_style { DISASSEMBLY_ATT, DISASSEMBLY_INTEL };

struct disassembler {
	ZydisDecoder decoder;
	ZydisFormatter formatter;
};

struct disassembled {
	uint8_t length;			 /* at least 1 */
	bool valid;			 /* if not, the text is that of one byte: ".byte 0x06" */
	bool has_target;		 /* a direct jump or call */
	uint64_t target;		 /* its address */
	char text[DISASSEMBLY_TEXT_MAX]; /* printable ASCII */
};

/* is_32_bit: the code is not 64-bit code. Returns 0 or -EINVAL. */
int disassembler_init(struct disassembler *ret, enum disassembly_style style, bool is_32_bit);

/* Disassemble the instruction at code, of left_bytes (at least 1), which is executed at address. */
void disassemble(const struct disassembler *disassembler, const uint8_t *code, size_t left_bytes,
		 uint64_t address, struct disassembled *ret);

#endif
