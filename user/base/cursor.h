/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A bounds-checked reader of untrusted little-endian bytes. Each read function
 * returns 0, or -EBADMSG if the value does not lie wholly inside the buffer. A
 * failed read does not advance the cursor, so cursor_offset() then names the
 * offset of the bad value. The buffer is borrowed.
 */
#ifndef JITBPF_BASE_CURSOR_H
#define JITBPF_BASE_CURSOR_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *begin;
	const uint8_t *at;
	const uint8_t *end;
};

static inline struct cursor cursor_of(const void *bytes, size_t size_bytes)
{
	const uint8_t *p = bytes;

	return (struct cursor){.begin = p, .at = p, .end = p + size_bytes};
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline size_t cursor_offset(const struct cursor *c)
{
	return (size_t)(c->at - c->begin);
}

static inline int cursor_read(struct cursor *c, void *dst, size_t size_bytes)
{
	if (cursor_left(c) < size_bytes)
		return -EBADMSG;
	if (size_bytes) /* an empty cursor may have no bytes at all */
		memcpy(dst, c->at, size_bytes);
	c->at += size_bytes;
	return 0;
}

/* Set *ret to the next size_bytes (possibly unaligned) and advance past them. */
static inline int cursor_take(struct cursor *c, size_t size_bytes, const void **ret)
{
	if (cursor_left(c) < size_bytes)
		return -EBADMSG;
	*ret = c->at;
	c->at += size_bytes;
	return 0;
}

static inline int cursor_skip(struct cursor *c, size_t size_bytes)
{
	const void *ignored;

	return cursor_take(c, size_bytes, &ignored);
}

/* Read a NUL-terminated string. *ret points into the buffer. */
static inline int cursor_string(struct cursor *c, const char **ret)
{
	const uint8_t *nul = memchr(c->at, 0, cursor_left(c));

	if (!nul)
		return -EBADMSG;
	*ret = (const char *)c->at;
	c->at = nul + 1;
	return 0;
}

#endif
