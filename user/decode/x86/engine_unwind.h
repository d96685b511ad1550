/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entry frames of JIT code that is not called. PHP's JIT code is entered by a
 * jump from the interpreter function execute_ex() and jumps back to it. It runs
 * in the frame of that function, in which gcc reserves stack space for it.
 */
#ifndef JITBPF_DECODE_X86_ENGINE_UNWIND_H
#define JITBPF_DECODE_X86_ENGINE_UNWIND_H

#include "decode/x86/code_unwind.h"
#include "decode/cfi/unwind_file.h"

/*
 * Read the entry frame for JIT code from the file that holds the interpreter.
 * Returns 0, -ENOENT (no such interpreter), or an error of
 * unwind_file_body_row().
 */
int engine_unwind_entry(struct unwind_file *file, struct code_entry *ret);

#endif
