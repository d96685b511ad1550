/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adds runtime frames to a sample, for the walks of both families (uapi/runtime_recipe.h). */
#ifndef JITBPF_BPF_RUNTIME_PUT_H
#define JITBPF_BPF_RUNTIME_PUT_H

#include "bpf/runtime_check.h"
#include "bpf/sample_scratch.h"
#include "uapi/runtime_recipe.h"

#define FRAME_OFFSET_MASK (RUNTIME_FRAME_BYTES_MAX - 1)

/* Returns the word of the frame that was read at an offset, which is in it. */
static __always_inline __u64 frame_word(const struct runtime_walk *w, __s16 offset)
{
	__u64 at = (__u16)offset;

	asm volatile("" : "+r"(at));
	at &= FRAME_OFFSET_MASK;
	return *(const __u64 *)(w->frame_bytes + at);
}

/* Returns a register by its number of DWARF. */
static __always_inline __u64 register_of(const struct pt_regs *user, __u8 number)
{
	switch (number) {
	case 3:
		return user->bx;
	case 5:
		return user->di;
	case 6:
		return user->bp;
	case 12:
		return user->r12;
	case 13:
		return user->r13;
	case 14:
		return user->r14;
	case 15:
		return user->r15;
	default:
		return 0; /* no code keeps what recipes tell of in it */
	}
}

/*
 * Adds a frame behind words[at], with w->owner. Returns 0, or how the frames end. Global, as
 * walk_frame() is.
 */
__noinline int runtime_put(struct sample_scratch *s, __u32 at, __u64 function, __u64 position,
			   __u64 check)
{
	struct runtime_frame *out;
	__u64 to;

	if (!s)
		return JITBPF_RUNTIME_UNREADABLE;
	if (s->runtime.count >= JITBPF_RUNTIME_FRAMES_MAX)
		return JITBPF_RUNTIME_DEPTH;
	to = at + sizeof(struct jitbpf_runtime_frames) / sizeof(__u64) +
	     (__u64)s->runtime.count * (sizeof(*out) / sizeof(__u64));
	asm volatile("" : "+r"(to));
	if (to >
	    JITBPF_SAMPLE_FRAMES_MAX + REGS_WORDS + RUNTIME_WORDS - sizeof(*out) / sizeof(__u64))
		return JITBPF_RUNTIME_DEPTH;
	out = (struct runtime_frame *)&s->words[to];
	out->function = function;
	out->position = position;
	out->check = check;
	out->owner = s->runtime.owner;
	s->runtime.count++;
	return 0;
}

/* Adds the frame of w->function. */
__noinline int runtime_put_function(struct sample_scratch *s, struct runtime_recipe *recipe,
				    __u32 at, __u64 position, __u32 is_entry)
{
	__u64 check;

	if (!s || !recipe)
		return JITBPF_RUNTIME_UNREADABLE;
	check = known_check(&s->runtime, recipe);
	if (is_entry && !s->runtime.is_native)
		check |= 1;
	return runtime_put(s, at, s->runtime.function, position, check);
}

#endif
