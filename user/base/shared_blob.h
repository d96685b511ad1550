/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Blobs that share one open file. The file is closed with the last of its blobs. */
#ifndef JITBPF_BASE_SHARED_BLOB_H
#define JITBPF_BASE_SHARED_BLOB_H

#include "base/blob.h"

/*
 * Set *ret to a second blob of the same contents. The first call wraps *blob in
 * a reference count. The caller closes both blobs, in any order. The count is
 * not atomic: blobs of one file are used by one thread at a time. Returns 0 or
 * -ENOMEM; on failure both are unchanged.
 */
int blob_share(struct blob *blob, struct blob *ret);

#endif
