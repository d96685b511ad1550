/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a leaf has its return address, by the code around its program counter. It is for code
 * whose functions keep rbp as their frame pointer, but whose beginnings and ends are not known. For
 * BPF and tests.
 */
#ifndef JITBPF_BPF_FRAME_CODE_H
#define JITBPF_BPF_FRAME_CODE_H

#include <linux/types.h>

#include "uapi/runtime_recipe.h"

/* The program counter is at FRAME_CODE_BEHIND of FRAME_CODE_BYTES bytes of code. */
#define FRAME_CODE_BEHIND (RUNTIME_EPILOGUE_BYTES_MAX + 4)
#define FRAME_CODE_BYTES  (FRAME_CODE_BEHIND + RUNTIME_PROLOGUE_BYTES_MAX + 8)

enum frame_code_state {
	FRAME_CODE_MADE = 0, /* rbp is the frame pointer */
	FRAME_CODE_NOT_YET,  /* the return address is at rsp */
	FRAME_CODE_PUSHED,   /* the caller's rbp is at rsp, the return address behind it */
	FRAME_CODE_LEFT,     /* as NOT_YET, but in an epilogue, which may have moved it */
};

#define FRAME_CODE_ENTER       0xe5894855u /* push %rbp; mov %rsp,%rbp */
#define FRAME_CODE_LEAVE       0x5de58b48u /* mov %rbp,%rsp; pop %rbp */
#define FRAME_CODE_LEAVE_OTHER 0x5dec8948u /* the same, as other assemblers write it */

/* For BPF, a copy of unaligned bytes is as many loads. */
#ifdef __bpf__
#define FRAME_CODE_LOAD(type, code) (*(const type *)(code))
#else
#define FRAME_CODE_LOAD(type, code)                                                                \
	({                                                                                         \
		type word_;                                                                        \
		__builtin_memcpy(&word_, (code), sizeof(word_));                                   \
		word_;                                                                             \
	})
#endif

static inline __attribute__((always_inline)) __u32 frame_code_at(const __u8 *code)
{
	return FRAME_CODE_LOAD(__u32, code);
}

/*
 * Returns true if the frame was left `distance` bytes before the program counter, and not yet
 * returned from. A return right behind the end of the frame is the last instruction.
 */
static inline __attribute__((always_inline)) int frame_code_left(const __u8 *pc, __u32 distance)
{
	__u32 leave = frame_code_at(pc - distance - 4);
	__u8 next = *(pc - distance);

	return (leave == FRAME_CODE_LEAVE || leave == FRAME_CODE_LEAVE_OTHER) &&
	       (!distance || (next != 0xc2 && next != 0xc3));
}

/* Returns true if code, of which 16 bytes can be read, is that of a pattern. */
static inline __attribute__((always_inline)) int frame_code_is(
	const __u8 *code, const struct runtime_code_pattern *pattern)
{
	return pattern->mask[0] &&
	       (FRAME_CODE_LOAD(__u64, code) & pattern->mask[0]) == pattern->value[0] &&
	       (FRAME_CODE_LOAD(__u64, code + 8) & pattern->mask[1]) == pattern->value[1];
}

/* Returns true if the program counter is not behind a call that makes the frame. */
static inline __attribute__((always_inline)) int frame_code_enters(
	const __u8 *pc, const struct runtime_code_pattern *pattern)
{
	for (__u32 i = 0; i < RUNTIME_PATTERN_BYTES_MAX + RUNTIME_ENTER_AHEAD; i++)
		if (i < pattern->size_bytes + RUNTIME_ENTER_AHEAD &&
		    frame_code_is(pc + RUNTIME_ENTER_AHEAD - i, pattern))
			return 1;
	return 0;
}

/*
 * The bytes are not decoded from their beginning, so what is found can be a part of another
 * instruction, or of another function: the caller checks the return address.
 */
static inline __attribute__((always_inline)) enum frame_code_state frame_code_state(
	const __u8 *code, const struct runtime_native_layout *layout)
{
	const __u8 *pc = code + FRAME_CODE_BEHIND;

	if (frame_code_at(pc - 1) == FRAME_CODE_ENTER)
		return FRAME_CODE_PUSHED;
	for (__u32 i = 0; i <= RUNTIME_EPILOGUE_BYTES_MAX; i++)
		if (i <= layout->epilogue_bytes && frame_code_left(pc, i))
			return FRAME_CODE_LEFT;
	for (__u32 i = 0; i <= RUNTIME_PROLOGUE_BYTES_MAX; i++)
		if (i <= layout->prologue_bytes && frame_code_at(pc + i) == FRAME_CODE_ENTER)
			return FRAME_CODE_NOT_YET;
	for (__u32 i = 0; i < RUNTIME_ENTER_CALLS_MAX; i++)
		if (frame_code_enters(pc, &layout->enter_call[i]))
			return FRAME_CODE_NOT_YET;
	return FRAME_CODE_MADE;
}

/*
 * Returns true if the code before a return address, the last RUNTIME_PATTERN_BYTES_MAX bytes of it,
 * is a call that makes the frame. 16 more bytes can be read, and do not matter.
 */
static inline __attribute__((always_inline)) int frame_code_entered(
	const __u8 *before, const struct runtime_native_layout *layout)
{
	for (__u32 i = 0; i < RUNTIME_ENTER_CALLS_MAX; i++) {
		__u64 at = (__u64)RUNTIME_PATTERN_BYTES_MAX - layout->enter_call[i].size_bytes;

		asm volatile("" : "+r"(at)); /* for the verifier: unsigned, and then compared */
		if (at < RUNTIME_PATTERN_BYTES_MAX &&
		    frame_code_is(before + at, &layout->enter_call[i]))
			return 1;
	}
	return 0;
}

#endif
