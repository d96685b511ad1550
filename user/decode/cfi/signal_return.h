/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Detection of signal trampolines, the code that signal handlers return to. It
 * only calls rt_sigreturn, and rsp points to the signal frame. Call frame
 * information describes the trampoline in glibc, is missing in musl, and is
 * wrong in Go. So the instructions themselves are matched.
 */
#ifndef JITBPF_DECODE_CFI_SIGNAL_RETURN_H
#define JITBPF_DECODE_CFI_SIGNAL_RETURN_H

#include <stdint.h>

#include "base/blob.h"

/*
 * Find the first trampoline that overlaps [offset, end) of the file, as a range
 * of file offsets. The range includes the byte before the trampoline, since a
 * return address is looked up at address - 1; and the byte behind it, where ip
 * is during the system call, unless a function may begin there. Sets both
 * outputs to `end` if there is none. Returns 0 or the blob's error.
 */
int signal_return_find(const struct blob *blob, uint64_t offset, uint64_t end, uint64_t *ret_start,
		       uint64_t *ret_end);

#endif
