/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/journal_lock.h"

#include <time.h>

/* Flags in the lock's value. */
#define STUCK 1ull /* a waiter has run out of patience with this owner */
#define BEAT  2ull /* changes as the owner makes progress */

#define PATIENCE_NS 250000000u
#define SPINS	    1000 /* between two looks at the clock: about 20 us */

/* Thread pointers are aligned, differ between threads, and cost no system call in any libc. */
static uint64_t self(void)
{
	uint64_t pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

/*
 * The coarse clock needs no system call on any clock source, and no time stamp counter, which
 * SECCOMP_MODE_STRICT forbids.
 */
static uint64_t coarse_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static bool try_take(journal_lock *lock, uint64_t value)
{
	uint64_t seen = 0;

	return atomic_compare_exchange_strong_explicit(lock, &seen, value, memory_order_acquire,
						       memory_order_relaxed);
}

/* Waits until the lock is not held by `owner`. Returns false after SPINS. */
static bool spin(journal_lock *lock, uint64_t owner)
{
	for (unsigned int i = 0; i < SPINS; i++) {
		if (atomic_load_explicit(lock, memory_order_relaxed) != owner)
			return true;
		__builtin_ia32_pause();
	}
	return false;
}

bool journal_lock_take(journal_lock *lock)
{
	uint64_t own = self(), owner = 0, since_ns = 0, seen, now_ns;

	while (!try_take(lock, own)) {
		seen = atomic_load_explicit(lock, memory_order_relaxed);
		if (!seen)
			continue;
		if ((seen & ~BEAT) == own || (seen & STUCK))
			return false;
		if (spin(lock, seen))
			continue;
		now_ns = coarse_ns();
		if (owner != seen) {
			owner = seen;
			since_ns = now_ns;
		}
		if (now_ns - since_ns > PATIENCE_NS &&
		    atomic_compare_exchange_strong(lock, &seen, seen | STUCK))
			return false;
	}
	return true;
}

void journal_lock_progress(journal_lock *lock)
{
	atomic_fetch_xor_explicit(lock, BEAT, memory_order_relaxed);
}

void journal_lock_release(journal_lock *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}
