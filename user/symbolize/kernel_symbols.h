/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's symbols, from the text of /proc/kallsyms. */
#ifndef JITBPF_SYMBOLIZE_KERNEL_SYMBOLS_H
#define JITBPF_SYMBOLIZE_KERNEL_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#define KERNEL_SYMBOL_BYTES_MAX (1u << 20) /* kallsyms has no sizes: what one may span */

struct kernel_symbols; /* see kernel_symbols.c */

/*
 * Parse kallsyms text. Takes ownership of text (malloc()), also on failure, and
 * points into it. Lines that cannot be read are passed over. Where all
 * addresses are 0 (kptr_restrict) there are no symbols.
 * Returns 0 or -ENOMEM.
 */
int kernel_symbols_parse(char *text, size_t size_bytes, struct kernel_symbols **ret);
void kernel_symbols_destroy(struct kernel_symbols *symbols);

/* How many functions there are, aliases included. */
size_t kernel_symbols_count(const struct kernel_symbols *symbols);

/*
 * The function at or before address, unless something else begins between them
 * (data, the end of the kernel's text) or it is too far away. *ret_module is
 * "" for the kernel itself, else the module's name. Returns its name, or NULL.
 */
const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address,
				const char **ret_module, uint64_t *ret_offset);

#endif
