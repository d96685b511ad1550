/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/process_state.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "jitapi-shim/journal.h"

#define PAGE_BYTES 4096

/*
 * One page, which the kernel replaces by zeros in a forked child. It is in .bss rather
 * than mapped at run time, so there is no pointer to set up before the first event. A
 * whole page of .bss is anonymous memory, as MADV_WIPEONFORK requires.
 */
static union {
	struct {
		_Atomic uint64_t next_sequence;
		struct journal journal;
	};
	char page[PAGE_BYTES];
} state __attribute__((aligned(PAGE_BYTES)));

bool process_begins_anew_on_fork(void)
{
	return madvise(&state, sizeof(state), MADV_WIPEONFORK) == 0;
}

struct journal *process_journal(void)
{
	return &state.journal;
}

uint64_t process_next_sequence(void)
{
	return atomic_fetch_add_explicit(&state.next_sequence, 1, memory_order_relaxed);
}
