/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Strings of CPython. */
#ifndef JITBPF_RUNTIMES_CPYTHON_TEXT_OBJECT_H
#define JITBPF_RUNTIMES_CPYTHON_TEXT_OBJECT_H

#include <stddef.h>
#include <stdint.h>

#include "runtimes/cpython/layout.h"
#include "runtimes/process_memory.h"

/*
 * Read the string object at an address as UTF-8, cut off at max_bytes. A NUL, and half a surrogate
 * pair as in the name of a file that is not UTF-8, is U+FFFD. Costs two or three reads, and at most
 * 4 * max_bytes. Returns 0 with *ret, which the caller frees; -EBADMSG: it is no string; -ENOMEM;
 * or an error of the memory.
 */
int cpython_text_read(const struct process_memory *memory, const struct cpython_layout *layout,
		      uint64_t object, size_t max_bytes, char **ret);

#endif
