/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of journals. All of it is reserved when the library is loaded, by the only system
 * calls of the shim: a sandbox that the program enters later may forbid any of them, on pain of
 * death. Reserved memory takes up no memory until it is written.
 *
 * A page that cannot be had when it is written kills the program. That is so for its own memory,
 * too, unless the kernel does not overcommit (vm.overcommit_memory=2): there, a write to a memfd
 * can fail although memory is left. So such kernels get a small journal, and all of it at once.
 */
#ifndef JITBPF_SHIM_JOURNAL_MEMORY_H
#define JITBPF_SHIM_JOURNAL_MEMORY_H

#include <stdint.h>

#include "uapi/jit_journal.h"

/* Of the process that loaded the library; forked children have copies. */
struct journal_memory {
	/*
	 * The journal of that process: zeros in a sealed memfd. Its descriptor stays open for
	 * readers. The shim never uses it again, since engines close and reuse descriptors.
	 */
	struct jitbpf_journal_header *shared;
	uint64_t shared_bytes;
	/* Private memory: the journal of a forked child, or a copy of its parent's. */
	struct jitbpf_journal_header *forked;
	uint64_t forked_bytes;
	/* Private memory for compactions, of any contents. A fork resets it to zeros. */
	void *scratch;
	uint64_t scratch_bytes;
	/*
	 * A bit for each 16 bytes of address space, modulo the size: a load has been there. A power
	 * of two of bytes, behind the scratch memory.
	 */
	uint64_t *reused;
	uint64_t reused_bytes;
};

/*
 * Reserve the memory; if it exists, reserve it again, for this process. Returns 0, or -1 if the
 * user, a limit or the system allows no journal: then no member is valid.
 */
int journal_memory_reserve(struct journal_memory *ret);

#endif
