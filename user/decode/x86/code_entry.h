/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stack frame that JIT code finds when it is entered. */
#ifndef JITBPF_DECODE_X86_CODE_ENTRY_H
#define JITBPF_DECODE_X86_CODE_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/cfi/unwind_file.h"

/*
 * The frame at the entry of code, as a row with UNWIND_CFA_RSP or
 * UNWIND_CFA_RBP.
 *
 * inside: the engine's interpreter jumps to the code, and the code jumps back, all in the frame of
 * the interpreter's function, which this entry describes. Some of this code is helpers that are
 * called, or that have more on the stack. So if the returns and jumps of the code do not fit the
 * frame, the entry is corrected.
 *
 * one_frame: code that is not reached from the entry is entered in the frame of the function's
 * body, by a signal handler or the runtime: exception handlers, and calls that do not return.
 *
 * doubted: the entry is only likely. At least one path from it has to end with a return or a jump
 * out of the code, with the caller's frame as this entry says; else the entry does not hold.
 */
struct code_entry {
	int32_t cfa;
	int16_t rbp;
	bool inside, one_frame, doubted;
};

/* The entry of a called function: rsp points to the return address. */
extern const struct code_entry code_entry_called;

/* The entry of code that pushes its return address itself. */
extern const struct code_entry code_entry_pushed;

/*
 * Set *ret for code that the interpreter's function jumps to: the frame of that
 * function's body, from the file's call frame information. Returns 0, -ENOENT
 * (no such function, or its frame is in no register), or an error of
 * body_row_find().
 */
int code_entry_inside(struct unwind_file *file, const char *function, struct code_entry *ret);

#endif
