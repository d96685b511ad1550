/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How JIT code is entered by engines that do not call it. PHP's is jumped to by the handlers of
 * its interpreter, which are parts of one function, execute_ex(), and jumps back to
 * them: it runs in that function's frame, for which gcc leaves it room there.
 */
#ifndef JITBPF_DECODE_X86_ENGINE_UNWIND_H
#define JITBPF_DECODE_X86_ENGINE_UNWIND_H

#include "decode/x86/code_unwind.h"
#include "decode/cfi/unwind_file.h"

/*
 * What code finds that is entered from the interpreter in this file. Returns 0, -ENOENT (there
 * is none), or what unwind_file_body_row() returns.
 */
int engine_unwind_entry(struct unwind_file *file, struct code_entry *ret);

#endif
