/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A stable radix sort of items by 64-bit keys. */
#ifndef JITBPF_BASE_SORT_KEYS_H
#define JITBPF_BASE_SORT_KEYS_H

#include <stddef.h>
#include <stdint.h>

struct sort_key {
	uint64_t key;
	uint32_t item;
	uint32_t weight; /* payload, not compared */
};

/*
 * Sort by key; items with equal keys keep their order. Takes time linear in
 * count, and a single pass if the keys are already in order. Returns 0, or
 * -ENOMEM with the keys unchanged.
 */
int sort_keys(struct sort_key *keys, size_t count);

#endif
