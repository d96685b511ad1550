/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hash functions for words and byte strings. Not collision-resistant against an attacker. */
#ifndef JITBPF_BASE_HASH_H
#define JITBPF_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	__uint128_t m = (__uint128_t)(a ^ 0x9e3779b97f4a7c15ull) * (b ^ 0xe7037ed1a0b428dbull);

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t hash_bytes(const void *bytes, size_t size_bytes, uint64_t seed)
{
	const uint8_t *p = bytes;
	uint64_t h = hash_mix(seed, size_bytes);
	uint64_t w;

	for (; size_bytes >= 8; p += 8, size_bytes -= 8) {
		memcpy(&w, p, 8);
		h = hash_mix(h, w);
	}
	if (size_bytes) {
		w = 0;
		memcpy(&w, p, size_bytes);
		h = hash_mix(h, w);
	}
	return h;
}

#endif
