/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names with bounded length. Profiled programs choose the lengths of names, and
 * text outputs repeat a name for each stack that contains it.
 */
#ifndef JITBPF_SYMBOLIZE_NAME_SHOWN_NAME_H
#define JITBPF_SYMBOLIZE_NAME_SHOWN_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/string_pool.h"

#define SHOWN_NAME_MAX 4096 /* bytes */

/*
 * Add a name to the pool. s holds up to size_bytes and needs no NUL; the name
 * ends at the first NUL if there is one. A name longer than SHOWN_NAME_MAX is
 * truncated, and "...#" and a hash of the whole name are appended, so that
 * distinct names stay distinct. Returns 0 and sets *ret to the string's number,
 * or -ENOMEM.
 */
int shown_name_add(struct string_pool *pool, const char *s, size_t size_bytes, uint32_t *ret);

#endif
