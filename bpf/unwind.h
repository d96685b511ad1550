/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps of the stack unwinder. Compiles for BPF and for user space alike: the
 * includer provides `unwind_read(dst, size, address)`, which copies stack
 * memory and returns 0 or not.
 */
#ifndef JITBPF_BPF_UNWIND_H
#define JITBPF_BPF_UNWIND_H

#include "uapi/record.h"

/*
 * Walk a chain of frame pointers from the frame at bp, and write return
 * addresses to ips, *ret_count of them (at most max). A well-behaved chain ends
 * with a zero frame pointer; each frame lies above the one before. sp is where
 * the stack ends: a frame below it is not one.
 */
static inline __attribute__((always_inline)) enum jitbpf_stack_end unwind_frame_pointers(
	__u64 sp, __u64 bp, __u64 *ips, __u32 max, __u32 *ret_count)
{
	struct {
		__u64 bp, return_address;
	} frame;
	enum jitbpf_stack_end end = JITBPF_END_DEPTH;
	__u64 floor = sp;
	__u32 i;

	for (i = 0; i < max; i++) {
		if (!bp) {
			end = JITBPF_END_ROOT;
			break;
		}
		if (bp < floor || bp & 7) {
			end = JITBPF_END_BAD_FRAME;
			break;
		}
		if (unwind_read(&frame, sizeof(frame), bp)) {
			end = JITBPF_END_UNREADABLE;
			break;
		}
		if (!frame.return_address) {
			end = JITBPF_END_ROOT;
			break;
		}
		ips[i] = frame.return_address;
		floor = bp + 16;
		bp = frame.bp;
	}
	*ret_count = i;
	return end;
}

#endif
