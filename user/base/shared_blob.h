/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One opened file for several who read it: closed when the last of them closes his blob. */
#ifndef JITBPF_BASE_SHARED_BLOB_H
#define JITBPF_BASE_SHARED_BLOB_H

#include "base/blob.h"

/*
 * A second blob of the same contents. *blob stays what it was for who reads and
 * closes it; the caller closes both, in any order, on one thread at a time.
 * Returns 0 or -ENOMEM; on failure both are unchanged.
 */
int blob_share(struct blob *blob, struct blob *ret);

#endif
