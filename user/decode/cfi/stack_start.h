/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Detection of hand-written code at which stacks begin, and of which no call frame information says
 * so: the end of a context in glibc, of a coroutine in Boost and PHP, the start of a thread in
 * musl, and the start of a program. No call leads there, so the instructions are matched.
 */
#ifndef JITBPF_DECODE_CFI_STACK_START_H
#define JITBPF_DECODE_CFI_STACK_START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACK_START_BYTES_MAX 96 /* limit of one such piece of code */

/* A range of code. */
struct stack_start {
	size_t start, end;
};

/*
 * Find the first such range that begins at or after offset `from` in the code. A range includes the
 * byte before an address that is only returned to, since a caller is looked up there. Returns false
 * if there is none.
 */
bool stack_start_find(const uint8_t *code, size_t code_bytes, size_t from, struct stack_start *ret);

/*
 * Find the code of a program's start in the code at the entry point of an ELF file: up to its first
 * call. `narrow`: of 32-bit code. Returns the size of the code in bytes; 0 if it is other code, as
 * in libraries.
 */
size_t stack_start_of_entry(const uint8_t *code, size_t code_bytes, bool narrow);

#endif
