/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies of memory and registers of the sampled process, packed behind the frames of a sample. */
#ifndef JITBPF_BPF_SAMPLE_COPY_H
#define JITBPF_BPF_SAMPLE_COPY_H

#include "bpf/sample_scratch.h"

#define ABOVE_STACK_LIMIT 128 /* bytes of the outermost frame above the limit */

static __always_inline void copy_regs(struct jitbpf_user_regs *to, const struct pt_regs *from)
{
	to->ax = from->ax;
	to->bx = from->bx;
	to->cx = from->cx;
	to->dx = from->dx;
	to->si = from->si;
	to->di = from->di;
	to->bp = from->bp;
	to->sp = from->sp;
	to->ip = from->ip;
	to->flags = from->flags;
	to->r8 = from->r8;
	to->r9 = from->r9;
	to->r10 = from->r10;
	to->r11 = from->r11;
	to->r12 = from->r12;
	to->r13 = from->r13;
	to->r14 = from->r14;
	to->r15 = from->r15;
}

/*
 * Extends a copy of the stack up to the next page boundary. A page that cannot be read is
 * missing in the copy or, if the end of the stack is not known, the end of the copy. Returns 1 when
 * the copy is complete.
 */
__noinline int copy_page(struct sample_scratch *s, __u32 at, __u64 wanted, __u64 limit)
{
	struct jitbpf_stack_copy *copy;
	__u64 size, piece;

	if (!s || at > JITBPF_SAMPLE_FRAMES_MAX + REGS_WORDS + RUNTIME_WORDS + CODE_WORDS)
		return 1;
	copy = (struct jitbpf_stack_copy *)&s->words[at];
	size = copy->size_bytes;
	if (size >= wanted)
		return 1;
	piece = COPY_PIECE - ((copy->sp + size) & (COPY_PIECE - 1));
	if (piece > wanted - size)
		piece = wanted - size;
	asm volatile("" : "+r"(piece), "+r"(size));
	if (size > JITBPF_STACK_COPY_MAX || piece > COPY_PIECE)
		return 1;
	if (bpf_probe_read_user(copy->data + size, piece, (void *)(copy->sp + size))) {
		if (!limit)
			return 1;
		copy->missing |= 1u << (((copy->sp & (COPY_PIECE - 1)) + size) / COPY_PIECE & 31);
	}
	copy->size_bytes = size + piece;
	return 0;
}

/*
 * Returns the size of a copy of the stack from sp on. Where the stack ends beyond
 * JITBPF_UNBOUNDED_COPY_MAX, the copy has at most a quarter of the size of the ring.
 */
static __always_inline __u64 copy_bytes(const struct sample_scratch *s, __u64 sp, __u64 limit)
{
	__u64 most = JITBPF_UNBOUNDED_COPY_MAX, ring_bytes;
	void *ring = sample_ring_of(s);

	if (!limit)
		return most;
	ring_bytes = ring ? bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) : 0;
	if (ring_bytes / 4 > most)
		most = ring_bytes / 4;
	if (most > JITBPF_STACK_COPY_MAX)
		most = JITBPF_STACK_COPY_MAX;
	return limit - sp + ABOVE_STACK_LIMIT < most ? limit - sp + ABOVE_STACK_LIMIT : most;
}

/*
 * Writes a copy of the stack, from where the walk stopped, at words[at]. Returns the size of the
 * copy in words.
 */
__noinline int copy_stack(struct sample_scratch *s, __u32 at)
{
	__u64 sp, limit, wanted;
	struct jitbpf_stack_copy *copy;
	int done = 0;

	if (!s || at > JITBPF_SAMPLE_FRAMES_MAX + REGS_WORDS + RUNTIME_WORDS + CODE_WORDS)
		return 0;
	copy = (struct jitbpf_stack_copy *)&s->words[at];
	sp = s->walk.state.sp;
	limit = unwind_stack_limit(sp, s->walk.stack_top, s->walk.state.thread_pointer);
	wanted = copy_bytes(s, sp, limit);
	copy->ip = s->walk.state.ip;
	copy->sp = sp;
	copy->bp = s->walk.state.bp;
	copy->stack_top = s->walk.stack_top;
	copy->thread_pointer = s->walk.state.thread_pointer;
	copy->size_bytes = copy->missing = copy->reserved = 0;
	copy->is_caller = s->walk.state.is_caller;
	copy->is_narrow = s->walk.state.narrow;
	for (__u32 i = 0; i <= JITBPF_STACK_COPY_MAX / COPY_PIECE && !done; i++)
		done = copy_page(s, at, wanted, limit);
	copy->size_bytes &= ~7u;
	return (sizeof(*copy) + copy->size_bytes) / sizeof(__u64);
}

/*
 * Returns where the bytes around an address begin: the address is in their middle, except near the
 * ends of its page, since the next page may be unreadable.
 */
static __always_inline __u64 code_bytes_start(__u64 address)
{
	__u64 page = address & ~(__u64)(PAGE_BYTES - 1);
	__u64 last = page + PAGE_BYTES - JITBPF_CODE_BYTES;

	if (address - page < JITBPF_CODE_BYTES / 2)
		return page;
	return address - JITBPF_CODE_BYTES / 2 < last ? address - JITBPF_CODE_BYTES / 2 : last;
}

/*
 * Copies the memory around the innermost frame in code without a file to words[at] and up. Returns
 * the number of words, 0 if it cannot be read. Global, as walk_frame() is.
 */
__noinline int copy_code_bytes(struct sample_scratch *s, __u32 at)
{
	struct jitbpf_code_bytes *code;

	if (!s || at > JITBPF_SAMPLE_FRAMES_MAX + REGS_WORDS + RUNTIME_WORDS)
		return 0;
	code = (struct jitbpf_code_bytes *)&s->words[at];
	code->address = code_bytes_start(s->walk.code);
	if (bpf_probe_read_user(code->bytes, sizeof(code->bytes), (void *)code->address))
		return 0;
	s->head.h.flags |= JITBPF_SAMPLE_CODE_BYTES;
	return CODE_WORDS;
}

#endif
