/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames of code that a runtime compiles (struct runtime_compiled), for BPF and user space. */
#ifndef JITBPF_BPF_COMPILED_FRAME_H
#define JITBPF_BPF_COMPILED_FRAME_H

#include "uapi/runtime_recipe.h"
#include "uapi/unwind.h"

/*
 * Returns the number of words of a frame up to its return address; 0: it is not there. `words` are
 * those from rsp on.
 */
static inline __attribute__((always_inline)) __u32 compiled_frame_words(
	const __u64 words[RUNTIME_COMPILED_WORDS], __u64 start, __u64 end)
{
	__u32 found = 0;

	for (__u32 i = 0; i < RUNTIME_COMPILED_WORDS; i++) {
		if (!found && words[i] > start && words[i] < end)
			found = i + 1;
	}
	return found;
}

/* Returns the row of a frame of so many words. */
static inline __attribute__((always_inline)) struct unwind_row compiled_frame_row(__u32 words,
										  __u64 sp,
										  __u64 bp)
{
	__u64 cfa = sp + 8ull * words;

	return (struct unwind_row){
		.cfa = UNWIND_CFA(UNWIND_CFA_RSP, (__s32)(8 * words)),
		.rbp = bp >= sp && bp == cfa - 16 ? -2 : UNWIND_RBP_KEPT,
	};
}

#endif
