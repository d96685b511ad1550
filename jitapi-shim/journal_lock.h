/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A lock whose request may be refused, so that no engine hangs on it. Its value is 0 if it is free,
 * else the owner's thread pointer. A request is refused:
 * - at once, to a signal handler that interrupted the owner;
 * - if the owner makes no progress (a garbage collector may have stopped it): to the
 *   first waiter after 250 ms, and then to all threads until the owner releases it.
 * A call that takes longer says from time to time that it makes progress.
 * A thread that ends while it owns the lock blocks it for good; threads do not end
 * inside a call.
 *
 * A waiter spins. It does not sleep, since that takes a system call, which the program's sandbox
 * may forbid on pain of death.
 */
#ifndef JITBPF_SHIM_JOURNAL_LOCK_H
#define JITBPF_SHIM_JOURNAL_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef _Atomic uint64_t journal_lock;

/* Returns true if the calling thread now owns the lock. */
bool journal_lock_take(journal_lock *lock);
void journal_lock_release(journal_lock *lock);

/* The owner has made progress in a long call: waiters begin to wait anew. */
void journal_lock_progress(journal_lock *lock);

#endif
