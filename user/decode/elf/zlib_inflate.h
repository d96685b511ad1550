/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random access to the contents of a zlib stream. Restart points are recorded as the stream is read
 * for the first time.
 */
#ifndef JITBPF_DECODE_ELF_ZLIB_INFLATE_H
#define JITBPF_DECODE_ELF_ZLIB_INFLATE_H

#include "base/blob.h"

#define ZLIB_INFLATE_BYTES (64u << 10) /* at most, in one read */

struct zlib_inflate; /* see zlib_inflate.c */

/*
 * Open the stream of the bytes [begin, end) of a blob, which must outlive *ret. size_bytes: of its
 * contents. Returns 0, -EBADMSG (another format, or it cannot have so much contents), -ENOMEM or
 * the blob's error; on failure *ret is unchanged.
 */
int zlib_inflate_create(const struct blob *blob, uint64_t begin, uint64_t end, uint64_t size_bytes,
			struct zlib_inflate **ret);
void zlib_inflate_destroy(struct zlib_inflate *zlib); /* NULL is allowed */

/*
 * Read the range [offset, offset + size_bytes) of the contents, of at most ZLIB_INFLATE_BYTES. `to`
 * has room for ZLIB_INFLATE_BYTES, all of which may be overwritten. The bytes that have to be read
 * and inflated on the way are deducted from *work_bytes. Returns 0, -EBADMSG, -E2BIG (*work_bytes
 * is too small), -ENOMEM or the blob's error.
 */
int zlib_inflate_read(struct zlib_inflate *zlib, uint64_t offset, uint8_t *to, size_t size_bytes,
		      uint64_t *work_bytes);

/* Memory in use, in bytes. */
size_t zlib_inflate_bytes(const struct zlib_inflate *zlib);

#endif
