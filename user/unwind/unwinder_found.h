/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the unwinder's own files share about code that nobody has reported. */
#ifndef JITBPF_UNWIND_UNWINDER_FOUND_H
#define JITBPF_UNWIND_UNWINDER_FOUND_H

#include "unwind/unwinder_state.h"

/* Returns true if code of a process is or soon can be found by the reader of its runtime. */
bool unwind_finds_code(const struct unwinder *unwinder, const struct process *process);

/*
 * Request the code at an address in memory without known code, if that is due. Returns 0 (there is
 * none), UNWIND_RULE_WAITS with unwinder->key set, or -ENOMEM.
 */
int unwind_find_code(const struct unwind_account *account, uint64_t address);

/* Take the answer to a request. Returns 0 or -ENOMEM. */
int unwind_take_found(struct unwinder *unwinder, const struct unwind_answer *answer);

#endif
