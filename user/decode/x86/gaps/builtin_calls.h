/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which builtins others call or jump to: such a call says that there is a return address on the
 * stack when the builtin starts, whatever its name is.
 */
#ifndef JITBPF_DECODE_X86_GAPS_BUILTIN_CALLS_H
#define JITBPF_DECODE_X86_GAPS_BUILTIN_CALLS_H

#include "decode/elf/elf_file.h"
#include "decode/x86/gaps/builtins.h"

/*
 * Search the code of all builtins for instructions that lead to the start of one. Those that are
 * called become V8_CALLED_BUILTIN; if there are no names, jumps are added to builtins->jumps. The
 * code is not decoded: other bytes would need the exact distance to a start as well. Returns 0,
 * -ENOMEM or the blob's error.
 */
int builtin_calls_search(struct builtins *builtins, const struct elf_file *elf);

/* Returns the builtin that contains an address, or NULL. */
const struct builtin *builtin_at(const struct builtins *builtins, uint64_t address);

#endif
