/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* zstd decompression of a whole section. */
#ifndef JITBPF_DECODE_ELF_ZSTD_INFLATE_H
#define JITBPF_DECODE_ELF_ZSTD_INFLATE_H

#include "base/blob.h"

/*
 * Decompress the bytes [begin, end) of a blob into `to`, which has exactly
 * size_bytes. Returns 0, -EBADMSG (damaged, too short, far too long, or a
 * window larger than that of "zstd -19"), -ENOMEM or the blob's error.
 */
int zstd_inflate(const struct blob *blob, uint64_t begin, uint64_t end, uint8_t *to,
		 uint64_t size_bytes);

#endif
