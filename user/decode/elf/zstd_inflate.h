/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What zstd compressed, inflated whole. */
#ifndef JITBPF_DECODE_ELF_ZSTD_INFLATE_H
#define JITBPF_DECODE_ELF_ZSTD_INFLATE_H

#include "base/blob.h"

/*
 * Fill to, of size_bytes, from the bytes [begin, end) of a blob. Returns 0, -EBADMSG
 * (damaged, too little, far too much, or refers further back than "zstd -19" does), -ENOMEM or
 * the blob's error.
 */
int zstd_inflate(const struct blob *blob, uint64_t begin, uint64_t end, uint8_t *to,
		 uint64_t size_bytes);

#endif
