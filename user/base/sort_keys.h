/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sorting by a number: item numbers put in the order of their keys. */
#ifndef JITBPF_BASE_SORT_KEYS_H
#define JITBPF_BASE_SORT_KEYS_H

#include <stddef.h>
#include <stdint.h>

struct sort_key {
	uint64_t key;
	uint32_t item;
	uint32_t weight; /* carried along */
};

/*
 * Sort by key; equal keys keep their order. Linear in count, and cheap where
 * they are in order already. Returns 0 or -ENOMEM (keys unchanged).
 */
int sort_keys(struct sort_key *keys, size_t count);

#endif
