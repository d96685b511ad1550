/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's own words for one of its addresses: "name+0x12/0x345 [module]". */
#ifndef JITBPF_SYMBOLIZE_KERNEL_SYMBOL_H
#define JITBPF_SYMBOLIZE_KERNEL_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

#define KERNEL_WORDS_BYTES 1024 /* with the NUL; the kernel's longest have about 650 */

struct kernel_symbol {
	const char *name;   /* as the kernel has it; never empty */
	const char *module; /* "[module]", "[bpf]" for BPF programs; NULL: the kernel itself */
	uint64_t offset;    /* of the address, from the symbol's start */
};

/*
 * Take the kernel's words apart: cuts them in place, and *ret lives as they do.
 * Returns false, with *ret unchanged, where they name nothing: the kernel writes
 * an address that it does not know as a number.
 */
bool kernel_symbol_parse(char *words, struct kernel_symbol *ret);

#endif
