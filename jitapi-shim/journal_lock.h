/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A lock that nobody waits for in vain. Zero is free; else it holds its owner's
 * thread id. Whoever asks for it in a signal handler that interrupted its own
 * holder is refused at once; and where a holder does not get on (a collector
 * has stopped all threads but the one that asks), one waits, for a while,
 * and then all are refused until the holder lets go. A thread that ended while it
 * held it holds it for good: threads do not end in the middle of a call.
 */
#ifndef JITBPF_SHIM_JOURNAL_LOCK_H
#define JITBPF_SHIM_JOURNAL_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef _Atomic uint32_t journal_lock;

/* Whether the lock is now held by the calling thread, tid. Sets errno. */
bool journal_lock_take(journal_lock *lock, uint32_t tid);
void journal_lock_release(journal_lock *lock);

#endif
