/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shapes of instructions that were decoded before. A shape is an instruction without its
 * displacement and immediate values. Large code, such as kernels of numeric libraries, repeats a
 * few hundred shapes ten thousand times, and most of these change nothing that a frame depends on.
 * Looking up a shape takes a small part of the time of decoding.
 */
#ifndef JITBPF_DECODE_X86_CODE_SHAPES_H
#define JITBPF_DECODE_X86_CODE_SHAPES_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_SHAPES_MAX	  1024
#define CODE_SHAPES_AHEAD 16 /* bytes that a look-up needs from the instruction on */

struct code_shape {
	uint64_t bytes, mask; /* of its instructions: the first bytes, and which of them count */
	/*
	 * General registers, as bits. While the values of all of these are unknown, and that of rsp
	 * is known, the instruction does not change the frame.
	 */
	uint16_t matters;
	uint8_t length;
	bool is_padding;
};

struct code_shapes {
	struct code_shape slots[CODE_SHAPES_MAX];
};

/* Returns the number of the general register that contains a register, or -1. */
int code_register_number(ZydisRegister name);

/*
 * Find the shape of the instruction at code, which has CODE_SHAPES_AHEAD bytes. Returns NULL if it
 * must be decoded.
 */
const struct code_shape *code_shapes_find(const struct code_shapes *shapes, const uint8_t *code);

/*
 * Keep the shape of a decoded instruction, which continues with the next one. It may replace
 * another one. Instructions that use the stack implicitly are not kept.
 */
void code_shapes_add(struct code_shapes *shapes, const uint8_t *code,
		     const ZydisDecodedInstruction *instruction,
		     const ZydisDecodedOperand *operands, bool is_padding);

#endif
