/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether functions keep frame pointers in rbp, by how often their code sets them up. */
#ifndef JITBPF_DECODE_X86_FRAME_POINTERS_H
#define JITBPF_DECODE_X86_FRAME_POINTERS_H

#include <stddef.h>
#include <stdint.h>

#define FRAME_POINTERS_BYTES_MIN (4u << 10) /* of less code, nothing is known */

enum frame_pointers {
	FRAME_POINTERS_NONE,
	FRAME_POINTERS_KEPT, /* many functions set up rbp */
	/*
	 * The same, and few of them end by popping rbp and returning: builtins of an engine, whose
	 * functions also pop a variable number of arguments, or jump to each other. If nothing says
	 * where they start (decode/x86/gaps/builtins.h), only rbp leads to their callers.
	 */
	FRAME_POINTERS_ONLY,
};

/* What was counted in some code. Those of parts can be added, see frame_pointers_add(). */
struct frame_pointer_counts {
	uint64_t code_bytes;
	uint32_t set_up;  /* instructions that set up rbp */
	uint32_t returns; /* returns behind an instruction that restores rbp */
};

struct frame_pointer_counts frame_pointers_count(const uint8_t *code, size_t code_bytes);
void frame_pointers_add(struct frame_pointer_counts *sum,
			const struct frame_pointer_counts *counts);
enum frame_pointers frame_pointers_judge(const struct frame_pointer_counts *counts);

#endif
