/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps from frame to frame by struct runtime_beyond, for BPF and tests. The includer defines
 * `beyond_read(dst, size, address)`, which copies memory of the process and returns 0 on success.
 */
#ifndef JITBPF_BPF_BEYOND_STEP_H
#define JITBPF_BPF_BEYOND_STEP_H

#include "uapi/runtime_beyond.h"

#define BEYOND_INLINE static inline __attribute__((always_inline))

/* A frame, as in struct unwind_state. */
struct beyond_frame {
	__u64 ip, sp, bp;
	__u32 is_caller;
	__u32 has_left; /* the thread's anchor was used */
};

#define BEYOND_HOPS	 16   /* to the begin of a block */
#define BEYOND_THREADS	 128  /* that are looked at */
#define BEYOND_WORDS_MAX 8192 /* of a frame */
#define BEYOND_LEAF	 3    /* places of the return address of a leaf */

#define BEYOND_FREE 0xff

BEYOND_INLINE int beyond_word(__u64 *ret, __u64 address)
{
	return !beyond_read(ret, sizeof(*ret), address);
}

/* Returns true if an address is in the virtual machine's code. */
BEYOND_INLINE int beyond_is_code(const struct runtime_beyond *beyond, __u64 address)
{
	for (__u32 i = 0; i < RUNTIME_HEAPS_MAX; i++)
		if (i < beyond->heap_count && address >= beyond->heap[i].start &&
		    address < beyond->heap[i].end)
			return 1;
	return 0;
}

/* Returns the address of the block of a heap that code is in, or 0. */
BEYOND_INLINE __u64 beyond_block_in(const struct runtime_code_heap *heap, __u64 pc)
{
	__u64 index = (pc - heap->start) >> (heap->shift & 63);
	__u8 back;

	for (__u32 i = 0; i < BEYOND_HOPS; i++) {
		if (beyond_read(&back, sizeof(back), heap->map + index) || back == BEYOND_FREE ||
		    back > index)
			return 0;
		if (!back)
			return heap->start + (index << (heap->shift & 63));
		index -= back;
	}
	return 0;
}

/* Returns the address of the block that code is in, or 0. */
BEYOND_INLINE __u64 beyond_block_at(const struct runtime_beyond *beyond, __u64 pc)
{
	for (__u32 i = 0; i < RUNTIME_HEAPS_MAX; i++)
		if (i < beyond->heap_count && pc >= beyond->heap[i].start &&
		    pc < beyond->heap[i].end)
			return beyond_block_in(&beyond->heap[i], pc);
	return 0;
}

/* Returns the address of the current thread's anchor, or 0. */
BEYOND_INLINE __u64 beyond_anchor_of(const struct runtime_beyond *beyond, __u64 thread_pointer)
{
	__u64 list, items, thread, word;
	__u32 count;

	if (!beyond->threads || !beyond_word(&list, beyond->threads) ||
	    beyond_read(&count, sizeof(count), list + beyond->length_at) ||
	    !beyond_word(&items, list + beyond->items_at))
		return 0;
	for (__u32 i = 0; i < BEYOND_THREADS; i++) {
		if (i >= count || !beyond_word(&thread, items + i * sizeof(thread)))
			break;
		if (beyond_word(&word, thread + beyond->native_at) &&
		    beyond_word(&word, word + beyond->pointer_at) && word == thread_pointer)
			return thread + beyond->anchor_at;
	}
	return 0;
}

/* Goes to the frame at an anchor. Returns 0 if there is none above the current frame. */
BEYOND_INLINE int beyond_to_anchor(const struct runtime_beyond *beyond, __u64 anchor,
				   struct beyond_frame *frame)
{
	__u64 sp = 0, ip = 0, bp = 0;

	if (!beyond_word(&sp, anchor + beyond->sp_at) ||
	    !beyond_word(&ip, anchor + beyond->pc_at) ||
	    !beyond_word(&bp, anchor + beyond->fp_at) || sp <= frame->sp ||
	    (!ip && !beyond_word(&ip, sp - 8)))
		return 0;
	frame->ip = ip;
	frame->sp = sp;
	frame->bp = bp;
	return 1;
}

/*
 * Goes to the caller of a frame in a block. A leaf may have no frame yet, or no more: its return
 * address is near rsp then. Only the virtual machine's own code calls such code. Returns 0 if there
 * is no caller.
 */
BEYOND_INLINE int beyond_leave_block(const struct runtime_beyond *beyond, __u64 block,
				     struct beyond_frame *frame)
{
	__u64 cfa, ip = 0, bp;
	__s32 words;

	if (beyond_read(&words, sizeof(words), block + beyond->frame_at))
		return 0;
	cfa = frame->sp + 8 * (words > 0 && words < BEYOND_WORDS_MAX ? (__u64)words : 1);
	for (__u32 i = 0; i < BEYOND_LEAF; i++) {
		if (i && frame->is_caller)
			break;
		if (i)
			cfa = frame->sp + 8ull * i;
		if (beyond_word(&ip, cfa - 8) && beyond_is_code(beyond, ip))
			break;
		ip = 0;
	}
	if (!ip)
		return 0;
	if (cfa - 16 >= frame->sp && beyond_word(&bp, cfa - 16))
		frame->bp = bp;
	frame->ip = ip;
	frame->sp = cfa;
	return 1;
}

/* Goes to the caller of a frame of the interpreter. Returns 0 if there is none. */
BEYOND_INLINE int beyond_leave_interpreter(struct beyond_frame *frame)
{
	__u64 saved[3]; /* rsp, rbp, the return address */

	if (beyond_read(saved, sizeof(saved), frame->bp - 8) || saved[0] <= frame->sp)
		return 0;
	frame->ip = saved[2];
	frame->sp = saved[0];
	frame->bp = saved[1];
	return 1;
}

#endif
