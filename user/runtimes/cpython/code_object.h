/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code objects of CPython: what is executed when a function, a class or a module runs. */
#ifndef JITBPF_RUNTIMES_CPYTHON_CODE_OBJECT_H
#define JITBPF_RUNTIMES_CPYTHON_CODE_OBJECT_H

#include "runtimes/cpython/layout.h"
#include "runtimes/runtime_reader.h"

#define CPYTHON_LINES_BYTES_MAX (64u << 10) /* of a line table; the rest is not read */

/* Returns the words that identify a code object. */
struct runtime_check cpython_code_check(const struct cpython_layout *layout);

/*
 * Returns 0 if the object at an address has the type `code`, -EBADMSG, or an error of the memory.
 * *type is the address of the type; if it is 0, it is recognized by its name, and set.
 */
int cpython_code_is(const struct process_memory *memory, uint64_t object, uint64_t *type);

/*
 * Read a code object of a known type. The check is read before and after everything else; they
 * must be equal. Reads at most RUNTIME_NAME_MAX and RUNTIME_FILE_MAX characters and
 * CPYTHON_LINES_BYTES_MAX bytes, in about 20 reads. Returns 0 with *ret, which
 * runtime_function_deinit() ends; -EBADMSG: it is no code object; -EAGAIN: it changed meanwhile;
 * -ENOMEM; or an error of the memory.
 */
int cpython_code_read(const struct process_memory *memory, const struct cpython_layout *layout,
		      uint64_t type, uint64_t object, struct runtime_function *ret);

#endif
