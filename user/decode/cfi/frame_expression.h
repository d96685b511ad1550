/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registers and DWARF expressions that call frame rules name. */
#ifndef JITBPF_DECODE_CFI_FRAME_EXPRESSION_H
#define JITBPF_DECODE_CFI_FRAME_EXPRESSION_H

#include <stdbool.h>

#include "base/cursor.h"
#include "decode/cfi/frame_rules.h"

/*
 * Returns the x86-64 number of the register that has the role of a register of 64-bit or, with
 * narrow, of 32-bit code.
 */
uint64_t frame_register_role(bool narrow, uint64_t number);

static inline struct frame_place frame_place_at(enum frame_place_kind kind, uint64_t base,
						int64_t offset)
{
	return (struct frame_place){
		.kind = kind,
		.base = base < FRAME_BASE_OTHER ? (uint8_t)base : FRAME_BASE_OTHER,
		.offset = offset,
	};
}

/*
 * Returns the place that an expression computes, of those that occur in practice. Besides that of a
 * PLT, they are register + offset, the value stored there, or (in OpenSSL's assembly) that value +
 * 8. Any other expression is FRAME_OTHER.
 */
struct frame_place frame_expression_place(struct cursor c, bool narrow);

#endif
