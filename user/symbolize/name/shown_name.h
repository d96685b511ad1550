/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names as long as they are shown. Whoever makes a name chooses its length, and
 * outputs that are text repeat it for each stack that it is in.
 */
#ifndef JITBPF_SYMBOLIZE_NAME_SHOWN_NAME_H
#define JITBPF_SYMBOLIZE_NAME_SHOWN_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/string_pool.h"

#define SHOWN_NAME_MAX 4096 /* bytes */

/*
 * The number of the string of size_bytes at s (which needs no NUL; one inside
 * ends it). Of one that is longer than SHOWN_NAME_MAX, that of its beginning with
 * "...#" and a hash of the whole behind it, so that two stay two.
 * Returns 0 and sets *ret, or -ENOMEM.
 */
int shown_name_add(struct string_pool *pool, const char *s, size_t size_bytes, uint32_t *ret);

#endif
