/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How to find frames beyond one that lacks an unwind row (bpf/runtime_beyond.h): from one frame of
 * a virtual machine's code to the next, by what the virtual machine itself knows of its stacks.
 */
#ifndef JITBPF_UAPI_RUNTIME_BEYOND_H
#define JITBPF_UAPI_RUNTIME_BEYOND_H

#include <linux/types.h>

#define RUNTIME_HEAPS_MAX 4

/*
 * [start, end): memory of code, in segments of 1 << shift bytes. A block of code is some of them.
 * At `map` is a byte for each segment: 0: a block begins here; 255: it is free; else how many
 * segments to go back.
 */
struct runtime_code_heap {
	__u64 start, end, map;
	__u32 shift; /* less than 64 */
	__u32 reserved;
};

/*
 * The caller of a frame
 * - in the first range of the recipe: rbp is the frame pointer, and the caller's rsp is in the word
 *   below the saved rbp;
 * - at `entry`, the return address of the code that calls the virtual machine's code: the anchor at
 *   anchor_of_entry of the object that the word at entry_at, relative to rbp, leads to;
 * - in a block of a heap: its frame has as many words, with the return address and the saved rbp
 *   below that, as the 4 bytes at frame_at of the block say;
 * - in other code: the anchor of the thread.
 *
 * An anchor is where a thread has left the virtual machine's code: rsp, program counter and rbp, at
 * sp_at, pc_at and fp_at. rsp is 0 if it has not. The program counter can be 0; then it is in the
 * word below rsp.
 *
 * The thread: the word at `threads` leads to a list, with the number of threads (4 bytes) at
 * length_at, and at items_at a pointer to pointers to threads. The word at native_at of a thread
 * leads to an object that has the thread pointer at pointer_at. The anchor is at anchor_at.
 */
struct runtime_beyond {
	__u32 heap_count; /* 0: nothing is known */
	__u16 frame_at;
	__s16 entry_at;
	__u16 anchor_of_entry, sp_at, pc_at, fp_at;
	__u16 length_at, items_at, native_at, pointer_at;
	__u64 entry;   /* 0: not known */
	__u64 threads; /* an address; 0: not known */
	__u64 anchor_at;
	struct runtime_code_heap heap[RUNTIME_HEAPS_MAX];
};

#endif
