/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The size of a function whose symbol has none. */
#ifndef JITBPF_DECODE_X86_CODE_EXTENT_H
#define JITBPF_DECODE_X86_CODE_EXTENT_H

#include <stddef.h>
#include <stdint.h>

#include "decode/x86/code_step.h"

/*
 * Returns the size in bytes of the function at the start of `code`: up to a return or a jump behind
 * which no branch of the function leads. Parts of a function behind an indirect jump, and parts
 * elsewhere, are left out. Returns 0 if there is no such end in code_bytes.
 */
size_t code_extent(const struct code_decoder *decoder, const uint8_t *code, size_t code_bytes,
		   uint64_t address);

#endif
