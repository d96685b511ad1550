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

struct frame_pointer_counts frame_pointers_count(const uint8_t *code, size_t code_bytes)
{
	struct frame_pointer_counts counts = {.code_bytes = code_bytes};

	for (size_t at = 0; at + sizeof(setups[0]) <= code_bytes; at++) {
		if (code[at] == setups[0][0])
			counts.set_up += !memcmp(code + at, setups[0], sizeof(setups[0])) ||
					 !memcmp(code + at, setups[1], sizeof(setups[1]));
		else if (code[at + 1] == RETURN)
			counts.returns += code[at] == POP_RBP || code[at] == LEAVE;
	}
	return counts;
}

void frame_pointers_add(struct frame_pointer_counts *sum, const struct frame_pointer_counts *counts)
{
	sum->code_bytes += counts->code_bytes;
	sum->set_up += counts->set_up;
	sum->returns += counts->returns;
}

enum frame_pointers frame_pointers_judge(const struct frame_pointer_counts *counts)
{
	if (counts->code_bytes < FRAME_POINTERS_BYTES_MIN ||
	    counts->set_up < counts->code_bytes / BYTES_PER_SETUP_MAX)
		return FRAME_POINTERS_NONE;
	return (uint64_t)counts->returns * PLAIN_RETURNS_PER_SETUP > counts->set_up
		       ? FRAME_POINTERS_KEPT
		       : FRAME_POINTERS_ONLY;
}
