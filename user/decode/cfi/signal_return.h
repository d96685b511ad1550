/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The code that signal handlers return to. It does nothing but call the kernel, for which rsp
 * points to the signal's frame; call frame information says so in glibc, is not there in
 * musl, and wrong in Go. So it is found by its instructions.
 */
#ifndef JITBPF_DECODE_CFI_SIGNAL_RETURN_H
#define JITBPF_DECODE_CFI_SIGNAL_RETURN_H

#include <stdint.h>

#include "base/blob.h"

/*
 * The first such code of which a byte is in [offset, end) of the file, as a range of file
 * offsets: with the byte before it, since a handler's return address is looked up in what
 * would have been the call. Both are `end` where there is none. Returns 0 or the blob's error.
 */
int signal_return_find(const struct blob *blob, uint64_t offset, uint64_t end, uint64_t *ret_start,
		       uint64_t *ret_end);

#endif
