/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The programs of call frame information, which say for each address of a function where its
 * caller's registers are; run for those that unwind rows hold: rsp, rbp, the return address.
 */
#ifndef JITBPF_DECODE_CFI_FRAME_PROGRAM_H
#define JITBPF_DECODE_CFI_FRAME_PROGRAM_H

#include "base/cursor.h"
#include "decode/cfi/frame_rules.h"
#include "decode/cfi/unwind_rows.h"

struct frame_program {
	struct cursor code;    /* its instructions, borrowed */
	uint64_t code_address; /* where they stand */
	uint64_t code_factor;  /* of advances */
	int64_t data_factor;   /* of offsets */
	uint8_t pointer_encoding;
};

/*
 * The rules that a program which all functions have in common ends with. Returns 0 or
 * -EBADMSG.
 */
int frame_program_rules(const struct frame_program *program, struct frame_rules *ret);

/* Code of which rows are made: [start, end), whose first byte is at `offset` in *rows. */
struct frame_window {
	uint64_t start, end;
	uint32_t offset;
	struct unwind_rows *rows;
};

/*
 * What holds from address on, until the next: moved to the window's start if that is later, left
 * out if it is behind its end. Returns 0 or -ENOMEM.
 */
int frame_window_add(const struct frame_window *window, uint64_t address, int32_t cfa, int16_t rbp);

/*
 * What `initial` and the program say of a function that starts at `start`, in the window, to
 * whose end the last row holds. What a row cannot hold is UNWIND_UNKNOWN; so is all from
 * where the program makes no sense. Returns 0 or -ENOMEM.
 */
int frame_program_run(const struct frame_program *program, const struct frame_rules *initial,
		      uint64_t start, const struct frame_window *window);

#endif
