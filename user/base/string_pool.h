/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Strings kept once, known by number. Number 0 is the empty string. A string
 * stays where it is until the pool is gone.
 */
#ifndef JITBPF_BASE_STRING_POOL_H
#define JITBPF_BASE_STRING_POOL_H

#include <stddef.h>
#include <stdint.h>

struct string_pool;

/* Returns 0 or -ENOMEM. */
int string_pool_create(struct string_pool **ret);
void string_pool_destroy(struct string_pool *pool);

/*
 * Number of the string of size_bytes at s (which needs no NUL; one inside ends
 * it). Returns 0 and sets *ret, or -ENOMEM.
 */
int string_pool_add(struct string_pool *pool, const char *s, size_t size_bytes, uint32_t *ret);

/* The NUL-terminated string of a number that the pool gave; "" for any other. */
const char *string_pool_get(const struct string_pool *pool, uint32_t number);

#endif
