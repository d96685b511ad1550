/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys: what a stack waits for. The module that takes an answer wakes its key. Two things may have
 * the same key, so a stack whose key is woken may have to wait again.
 */
#ifndef JITBPF_UNWIND_UNWIND_KEY_H
#define JITBPF_UNWIND_UNWIND_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

enum unwind_key_kind {
	UNWIND_KEY_PAGE = 1, /* rows of a file's page: number of the file, page */
	UNWIND_KEY_REGION,   /* rows of a region: its identity */
	UNWIND_KEY_RETURN,   /* whether functions can return to a place: its slot */
	UNWIND_KEY_ROOM,     /* for a request that was not allowed: any answer */
	UNWIND_KEY_CHECK,    /* a check of code: its slot */
	UNWIND_KEY_FUNCTION, /* a function of a runtime: its object, recipe and check */
	UNWIND_KEY_CODE,     /* code at an address of a process; 0: that its recipe is known */
};

/* Returns a key, which is not 0. */
static inline uint64_t unwind_key(enum unwind_key_kind kind, uint64_t a, uint64_t b)
{
	return hash_mix(hash_mix(kind, a), b) | 1;
}

/* Keys that were woken and not taken yet. Zero-initialized is empty. */
struct unwind_woken {
	VEC(uint64_t) keys;
	size_t taken;
	bool all; /* without memory for a key, all are woken */
};

/* Wake a key. woken NULL: nothing waits. */
static inline void unwind_wake(struct unwind_woken *woken, uint64_t key)
{
	if (woken && vec_push(&woken->keys, key))
		woken->all = true;
}

#endif
