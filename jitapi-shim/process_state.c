/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/process_state.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

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
		/* Time of the first process_tid(); differs from that of its ancestors. */
		_Atomic uint64_t epoch_ns;
		struct journal journal;
	};
	char page[PAGE_BYTES];
} state __attribute__((aligned(PAGE_BYTES)));

static _Atomic bool wiped_on_fork;

/*
 * initial-exec: other models may allocate memory at a thread's first access, which is not
 * allowed in a signal handler. It takes 16 bytes of libc's static TLS reserve.
 */
static __thread struct {
	uint64_t epoch_ns;
	uint32_t tid;
} cache __attribute__((tls_model("initial-exec")));

/* If this fails, a child continues its parent's sequence numbers. */
__attribute__((constructor)) static void state_init(void)
{
	int saved_errno = errno;

	process_begins_anew_on_fork();
	errno = saved_errno;
}

bool process_begins_anew_on_fork(void)
{
	if (!atomic_load_explicit(&wiped_on_fork, memory_order_relaxed) &&
	    madvise(&state, sizeof(state), MADV_WIPEONFORK) == 0)
		atomic_store(&wiped_on_fork, true);
	return atomic_load_explicit(&wiped_on_fork, memory_order_relaxed);
}

struct journal *process_journal(void)
{
	return &state.journal;
}

uint64_t process_next_sequence(void)
{
	return atomic_fetch_add_explicit(&state.next_sequence, 1, memory_order_relaxed);
}

uint32_t process_tid(uint64_t now_ns)
{
	uint64_t epoch_ns = atomic_load_explicit(&state.epoch_ns, memory_order_relaxed);

	if (!epoch_ns) {
		/* Without the wipe, a cached tid would be the parent's after a fork. */
		if (!atomic_load_explicit(&wiped_on_fork, memory_order_relaxed))
			return (uint32_t)syscall(SYS_gettid);
		if (atomic_compare_exchange_strong(&state.epoch_ns, &epoch_ns, now_ns))
			epoch_ns = now_ns;
	}
	if (cache.epoch_ns != epoch_ns) {
		cache.tid = (uint32_t)syscall(SYS_gettid);
		/* A signal handler must not see the new epoch with the old tid. */
		atomic_signal_fence(memory_order_seq_cst);
		cache.epoch_ns = epoch_ns;
	}
	return cache.tid;
}
