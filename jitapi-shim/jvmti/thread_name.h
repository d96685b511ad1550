/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JITBPF_SHIM_JVMTI_THREAD_NAME_H
#define JITBPF_SHIM_JVMTI_THREAD_NAME_H

#include <stddef.h>

/*
 * Convert a name from Java's modified UTF-8 to UTF-8 in `name`, NUL-terminated: a pair of
 * surrogates, of three bytes each, becomes one character of four bytes. Other bytes are copied. A
 * name that does not fit is cut before a character. size_bytes is at least 1.
 */
void thread_name(const char *modified, char *name, size_t size_bytes);

#endif
