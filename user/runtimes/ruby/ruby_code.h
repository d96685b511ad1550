/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads variables that have no symbols out of the code of small exported functions of CRuby. */
#ifndef JITBPF_RUNTIMES_RUBY_RUBY_CODE_H
#define JITBPF_RUNTIMES_RUBY_RUBY_CODE_H

#include "runtimes/ruby/ruby_file.h"

/*
 * Set file->context: of rb_thread_current(), which reads a member of it. Returns 0; -ENOENT if the
 * code is another one than is known; or the blob's error.
 */
int ruby_code_find_context(const struct elf_file *elf, struct runtime_range function,
			   struct ruby_file *file);

/* Set file->symbols: of rb_sym_immortal_count(), which returns its first member. The same errors.
 */
int ruby_code_find_symbols(const struct elf_file *elf, struct runtime_range function,
			   struct ruby_file *file);

#endif
