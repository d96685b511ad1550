/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The interpreter of call frame programs. A program describes for each address
 * of a function where the caller's registers are. Only the registers of unwind
 * rows are tracked: rsp, rbp and the return address; in 32-bit code, those that
 * have their roles.
 */
#ifndef JITBPF_DECODE_CFI_FRAME_PROGRAM_H
#define JITBPF_DECODE_CFI_FRAME_PROGRAM_H

#include <stdbool.h>

#include "base/cursor.h"
#include "decode/cfi/frame_rules.h"
#include "decode/cfi/unwind_rows.h"

struct frame_program {
	struct cursor code;    /* instructions, borrowed */
	uint64_t code_address; /* address of the instructions */
	uint64_t code_factor;  /* code alignment factor, of advances */
	int64_t data_factor;   /* data alignment factor, of offsets */
	uint8_t pointer_encoding;
	bool narrow; /* of 32-bit code (i386) */
};

/* Run the initial program of a CIE. Sets *ret to the resulting rules. Returns 0 or -EBADMSG. */
int frame_program_rules(const struct frame_program *program, struct frame_rules *ret);

/* A range of code whose rows are collected. Address `start` has the row offset `offset`. */
struct frame_window {
	uint64_t start, end;
	uint32_t offset;
	struct unwind_rows *rows;
};

/*
 * Add a row that holds from address up to the next row. An address before the
 * window is moved to its start; a row after its end is dropped. Returns 0 or
 * -ENOMEM.
 */
int frame_window_add(const struct frame_window *window, uint64_t address, int32_t cfa, int16_t rbp);

/*
 * Add the rows of a function that starts at `start`, as far as they lie in the
 * window. `initial` has the rules of its CIE. The last row holds up to the end
 * of the window. Rules that a row cannot express become UNWIND_UNKNOWN; so does
 * all code after an invalid instruction. Returns 0 or -ENOMEM.
 */
int frame_program_run(const struct frame_program *program, const struct frame_rules *initial,
		      uint64_t start, const struct frame_window *window);

#endif
