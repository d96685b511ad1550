/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the code of V8's interpreter that calls the handlers of bytecodes. Such a handler jumps to
 * the next one, so all of them return there, and all frames of interpreted functions are its own.
 */
#ifndef JITBPF_RUNTIMES_V8_V8_TRAMPOLINE_H
#define JITBPF_RUNTIMES_V8_V8_TRAMPOLINE_H

#include "decode/elf/elf_file.h"
#include "runtimes/v8/v8_file.h"

#define V8_TRAMPOLINE_CODE_MAX (128u << 20) /* bytes that are searched */

/*
 * Set the trampolines and the handlers of *ret. A call that is in no builtin with a name is a range
 * by itself: of return addresses alone. Returns 0, -ENOENT, -ENOMEM or the blob's error.
 */
int v8_trampolines_find(const struct elf_file *elf, struct v8_file *ret);

#endif
