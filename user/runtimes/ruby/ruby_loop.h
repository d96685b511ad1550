/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds vm_exec_core(), CRuby's interpreter loop, which has no exported symbol. */
#ifndef JITBPF_RUNTIMES_RUBY_RUBY_LOOP_H
#define JITBPF_RUNTIMES_RUBY_RUBY_LOOP_H

#include "decode/elf/elf_file.h"
#include "uapi/runtime_recipe.h"

/*
 * Find it by its table of the addresses of instructions: the longest one of addresses that are all
 * in one function of .eh_frame. Returns 0; -ENOENT if there is none; -ENOMEM or the blob's error.
 */
int ruby_loop_find(const struct elf_file *elf, struct runtime_range *ret);

#endif
