/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Detection of signal trampolines, the code that signal handlers return to. It
 * only calls rt_sigreturn, and rsp points to the signal frame. Call frame
 * information describes the trampoline in glibc, is missing in musl, and is
 * wrong in Go. So the instructions themselves are matched. 32-bit code can call
 * sigreturn instead, which has another frame.
 */
#ifndef JITBPF_DECODE_CFI_SIGNAL_RETURN_H
#define JITBPF_DECODE_CFI_SIGNAL_RETURN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/blob.h"

/* A range of file offsets with one row. */
struct signal_return {
	uint64_t start, end;
	int32_t cfa; /* of the row: UNWIND_SIGNAL or UNWIND_NARROW_SIGNAL */
};

/*
 * Find the first trampoline, or the rest of one, that overlaps [offset, end) of the file, as a
 * range of file offsets. The range includes the byte before the trampoline, since a return address
 * is looked up at address - 1; and the byte behind it, where ip is during the system call, unless a
 * function may begin there. Sets start and end to `end` if there is none. `narrow`: of 32-bit code.
 * Returns 0 or the blob's error.
 */
int signal_return_find(const struct blob *blob, bool narrow, uint64_t offset, uint64_t end,
		       struct signal_return *ret);

#endif
