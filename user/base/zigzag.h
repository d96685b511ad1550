/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Signed numbers as unsigned ones, with small numbers for small distances from 0. */
#ifndef JITBPF_BASE_ZIGZAG_H
#define JITBPF_BASE_ZIGZAG_H

#include <stdint.h>

/* number is a difference modulo 2^64. */
static inline uint64_t zigzag(uint64_t number)
{
	return number << 1 ^ (uint64_t)((int64_t)number >> 63);
}

static inline uint64_t unzigzag(uint64_t number)
{
	return number >> 1 ^ -(number & 1);
}

/* number is a difference modulo 2^32. */
static inline uint64_t zigzag_word(uint32_t number)
{
	return zigzag((uint64_t)(int32_t)number);
}

#endif
