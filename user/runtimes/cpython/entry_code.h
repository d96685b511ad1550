/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The code with which CPython's interpreter loop makes its frame the newest one of the thread. */
#ifndef JITBPF_RUNTIMES_CPYTHON_ENTRY_CODE_H
#define JITBPF_RUNTIMES_CPYTHON_ENTRY_CODE_H

#include "decode/elf/elf_file.h"
#include "runtimes/cpython/layout.h"
#include "uapi/runtime_recipe.h"

/*
 * Find that code at the start of the loop, see struct runtime_recipe. Up to 3.10, and from 3.13 on,
 * one instruction does it, and *ret is an empty range behind it. In between, a thread points to an
 * object on the native stack before that object points to the frame. If the code is not understood,
 * *ret is all that may be it. Addresses are those of the file. Returns 0, -EBADMSG or the
 * blob's error.
 */
int cpython_unsettled_code(const struct elf_file *elf, const struct runtime_range *loop,
			   const struct cpython_layout *layout, struct runtime_range *ret);

#endif
