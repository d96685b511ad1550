/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/frame_pointers.h"

#include <string.h>

/*
 * Code with frame pointers sets one up every 0.5 to 1 KB. Code without them does so every 20 KB or
 * less often, where it needs an aligned stack or allocates on it.
 */
#define BYTES_PER_SETUP_MAX 2048

#define PLAIN_RETURNS_PER_SETUP 2 /* of FRAME_POINTERS_ONLY: one for at least so many setups */

/* push %rbp; mov %rsp,%rbp */
static const uint8_t setups[][4] = {{0x55, 0x48, 0x89, 0xe5}, {0x55, 0x48, 0x8b, 0xec}};

#define POP_RBP 0x5d
#define LEAVE	0xc9
#define RETURN	0xc3

enum frame_pointers frame_pointers_of(const uint8_t *code, size_t code_bytes)
{
	size_t set_up = 0, returns = 0;

	if (code_bytes < FRAME_POINTERS_BYTES_MIN)
		return FRAME_POINTERS_NONE;
	for (size_t at = 0; at + sizeof(setups[0]) <= code_bytes; at++) {
		if (code[at] == setups[0][0])
			set_up += !memcmp(code + at, setups[0], sizeof(setups[0])) ||
				  !memcmp(code + at, setups[1], sizeof(setups[1]));
		else if (code[at + 1] == RETURN)
			returns += code[at] == POP_RBP || code[at] == LEAVE;
	}
	if (set_up < code_bytes / BYTES_PER_SETUP_MAX)
		return FRAME_POINTERS_NONE;
	return returns * PLAIN_RETURNS_PER_SETUP > set_up ? FRAME_POINTERS_KEPT
							  : FRAME_POINTERS_ONLY;
}
