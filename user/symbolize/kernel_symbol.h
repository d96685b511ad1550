/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parser of the kernel's symbolic address format (%pS): "name+0x12/0x345 [module]". */
#ifndef JITBPF_SYMBOLIZE_KERNEL_SYMBOL_H
#define JITBPF_SYMBOLIZE_KERNEL_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

#define KERNEL_WORDS_BYTES 1024 /* including the NUL; the kernel's longest text has about 650 */

struct kernel_symbol {
	const char *name;   /* as in kallsyms; never empty */
	const char *module; /* "[module]", "[bpf]" for BPF programs, NULL for the kernel itself */
	uint64_t offset;    /* distance of the address from the symbol's start, in bytes */
};

/*
 * Parse a text in place. *ret points into it. Returns false, with *ret
 * unchanged, if the text has no symbol: the kernel prints an unknown address as
 * a number.
 */
bool kernel_symbol_parse(char *words, struct kernel_symbol *ret);

#endif
