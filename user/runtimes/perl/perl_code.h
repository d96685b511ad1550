/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the machine code of Perl's functions says. */
#ifndef JITBPF_RUNTIMES_PERL_PERL_CODE_H
#define JITBPF_RUNTIMES_PERL_PERL_CODE_H

#include "decode/elf/elf_file.h"
#include "uapi/runtime_recipe.h"

/*
 * All functions take the range of one function, and return 0; -ENOENT if it has other code than is
 * known; or the blob's error.
 */

/* The offset of PL_curstackinfo: the first member that Perl_cxinc() reads. */
int perl_code_find_stack(const struct elf_file *elf, struct runtime_range function, int64_t *ret);

/*
 * The instructions of pp_entersub() that fill a context, from the one behind the store that makes
 * it the newest one to its last word that is read.
 */
int perl_code_find_unfilled(const struct elf_file *elf, struct runtime_range function,
			    struct runtime_range *ret);

/* The function, S_docatch(), that pp_entertry() gives its own address. */
int perl_code_find_again(const struct elf_file *elf, struct runtime_range function, uint64_t *ret);

#endif
