/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the code in which CRuby switches to the native stack of a fiber: coroutine_transfer(), and
 * its callers behind their calls, which return on the other stack. Only then they set the execution
 * context of what they have switched to.
 */
#ifndef JITBPF_RUNTIMES_RUBY_RUBY_SWITCH_H
#define JITBPF_RUNTIMES_RUBY_RUBY_SWITCH_H

#include "decode/elf/elf_file.h"
#include "uapi/runtime_recipe.h"

/*
 * Find it in a file, by the address of coroutine_transfer(). Ranges that are not found are empty.
 * Returns 0, -ENOMEM, or the blob's error.
 */
int ruby_switch_find(const struct elf_file *elf, uint64_t transfer,
		     struct runtime_range ret[RUNTIME_SWITCHES_MAX]);

#endif
