/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A pool that stores each distinct string once and gives it a number. Number 0
 * is the empty string. Strings do not move until the pool is destroyed.
 */
#ifndef JITBPF_BASE_STRING_POOL_H
#define JITBPF_BASE_STRING_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/room.h"

struct string_pool;

/* Returns 0 or -ENOMEM. */
int string_pool_create(struct string_pool **ret);
void string_pool_destroy(struct string_pool *pool);

/*
 * Find or add a string. s holds up to size_bytes and needs no NUL; the string
 * ends at the first NUL if there is one. Returns 0 and sets *ret to the
 * string's number, or -ENOMEM, or -EDQUOT (no room).
 */
int string_pool_add(struct string_pool *pool, const char *s, size_t size_bytes, uint32_t *ret);

/* Limit new strings: each takes STRING_POOL_BYTES plus its length of *room, which is copied. */
void string_pool_set_room(struct string_pool *pool, const struct room *room);

#define STRING_POOL_BYTES 48 /* its NUL, pointer, and places in the index */

/* Returns the NUL-terminated string of a number, or "" for an unknown number. */
const char *string_pool_get(const struct string_pool *pool, uint32_t number);

/* Returns the number of strings. The numbers of all strings are below it. */
uint32_t string_pool_size(const struct string_pool *pool);

#endif
