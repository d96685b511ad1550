/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/journal_lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WAITED_FOR  0x80000000u /* the owner wakes a waiter when it releases the lock */
#define STUCK	    0x40000000u /* a waiter has run out of patience with this owner */
#define TID_MASK    0x3fffffffu
#define PATIENCE_NS 250000000l /* longer than a compaction of 64 MB */
#define SPINS	    200	       /* about as long as an append */

static bool try_take(journal_lock *lock, uint32_t value)
{
	uint32_t seen = 0;

	return atomic_compare_exchange_strong_explicit(lock, &seen, value, memory_order_acquire,
						       memory_order_relaxed);
}

static bool spin(journal_lock *lock, uint32_t tid)
{
	for (unsigned int i = 0; i < SPINS; i++) {
		uint32_t seen = atomic_load_explicit(lock, memory_order_relaxed);

		if (!seen && try_take(lock, tid))
			return true;
		if ((seen & TID_MASK) == tid || (seen & STUCK))
			return false;
		__builtin_ia32_pause();
	}
	return false;
}

/* Sleeps until the lock may have changed. Returns false after PATIENCE_NS. */
static bool sleep_on(journal_lock *lock, uint32_t seen)
{
	struct timespec patience = {.tv_nsec = PATIENCE_NS};

	return syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, seen, &patience, NULL, 0) == 0 ||
	       errno != ETIMEDOUT;
}

bool journal_lock_take(journal_lock *lock, uint32_t tid)
{
	if (try_take(lock, tid) || spin(lock, tid))
		return true;
	for (;;) {
		uint32_t seen = atomic_load_explicit(lock, memory_order_relaxed);

		/* Other threads may still wait. */
		if (!seen && try_take(lock, tid | WAITED_FOR))
			return true;
		if (!seen)
			continue;
		if ((seen & TID_MASK) == tid || (seen & STUCK))
			return false;
		if (!(seen & WAITED_FOR) &&
		    !atomic_compare_exchange_strong(lock, &seen, seen | WAITED_FOR))
			continue;
		seen |= WAITED_FOR;
		if (!sleep_on(lock, seen) &&
		    atomic_compare_exchange_strong(lock, &seen, seen | STUCK))
			return false;
	}
}

void journal_lock_release(journal_lock *lock)
{
	uint32_t old = atomic_exchange_explicit(lock, 0, memory_order_release);

	if (old & WAITED_FOR)
		syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
