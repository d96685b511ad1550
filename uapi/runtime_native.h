/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The second family of runtime frames (uapi/runtime_recipe.h): native frames that hold a function.
 */
#ifndef JITBPF_UAPI_RUNTIME_NATIVE_H
#define JITBPF_UAPI_RUNTIME_NATIVE_H

#include <linux/types.h>

#define RUNTIME_NATIVE_RANGES_MAX  16
#define RUNTIME_NATIVE_LAYOUTS_MAX 4 /* a power of two */
#define RUNTIME_NATIVE_STEPS_MAX   2

enum runtime_native_flag {
	/*
	 * In a leaf whose frame is complete, position_register has the position if it is less than
	 * position_span away from the word at position_at, or if that is below the stack pointer.
	 */
	RUNTIME_NATIVE_REGISTER_POSITION = 1,
	/*
	 * The code has no unwind rows, but its functions keep rbp as their frame pointer. They
	 * begin with `push %rbp; mov %rsp,%rbp`, at most prologue_bytes behind their entry, or with
	 * one of enter_call, at most RUNTIME_ENTER_AHEAD bytes behind it; and return at most
	 * epilogue_bytes behind `mov %rbp,%rsp; pop %rbp`. The code around its program counter
	 * tells whether a leaf has its frame (bpf/frame_code.h).
	 */
	RUNTIME_NATIVE_FRAME_POINTERS = 2,
	/* It was compiled from the functions: these are marked as JITBPF_POSITION_COMPILED. */
	RUNTIME_NATIVE_COMPILED = 4,
	/*
	 * In a leaf that has not made its frame yet, entry_register has the word of the function.
	 * With unwind rows, that is so for prologue_bytes from the start of the range on.
	 */
	RUNTIME_NATIVE_ENTRY_REGISTER = 8,
};

/*
 * Code of size_bytes, whose end is a call. It has 16 bytes, as two words, with
 * (word[i] & mask[i]) == value[i]. No mask: there is no such code.
 */
struct runtime_code_pattern {
	__u64 value[2], mask[2];
	__u32 size_bytes; /* up to RUNTIME_PATTERN_BYTES_MAX */
	__u32 reserved;
};

#define RUNTIME_PATTERN_BYTES_MAX  24
#define RUNTIME_PROLOGUE_BYTES_MAX 64
#define RUNTIME_EPILOGUE_BYTES_MAX 28
#define RUNTIME_ENTER_CALLS_MAX	   2
#define RUNTIME_ENTER_AHEAD	   8

/*
 * Where native frames hold their function. Offsets of words are relative to the frame pointer (rbp)
 * of the frame, negative ones below it; all words that are used of a frame are in
 * RUNTIME_FRAME_BYTES_MAX bytes.
 *
 * The function object: address = the word at function_at without the bits of function_clear, then
 * address = word at address + step[i] without these bits, for each of step_count steps. But if
 * guard_mask is not 0 and (word at guard_at & guard_mask) != guard_value, then the frame holds
 * none; or if the word at function_at is less than function_min, or lacks a bit of function_clear.
 * That is no loss, unlike words that cannot be read.
 */
struct runtime_native_layout {
	__s16 function_at;
	__s16 position_at; /* or RUNTIME_NO_OFFSET */
	__s16 guard_at;
	__s16 step[RUNTIME_NATIVE_STEPS_MAX];
	__u16 step_count;
	__u32 function_clear;
	__u32 flags; /* enum runtime_native_flag */
	__u64 guard_mask, guard_value, function_min;
	/* Set by the publisher: the words that are read, relative to the frame pointer. */
	__s16 bytes_from;
	__u16 bytes;
	__u16 position_register, entry_register; /* numbers of DWARF */
	__u64 position_span;
	__u16 prologue_bytes, epilogue_bytes; /* up to RUNTIME_PROLOGUE_BYTES_MAX, ... */
	__u32 reserved;
	/* A callee makes the frame of its caller, which calls it so at its beginning. */
	struct runtime_code_pattern enter_call[RUNTIME_ENTER_CALLS_MAX];
};

/*
 * [start, end): code whose native frames are of a layout. Ranges of one recipe do not overlap, and
 * may lie in memory of any kind.
 */
struct runtime_native_range {
	__u64 start, end;
	__u32 layout; /* index */
	__u32 reserved;
};

#define RUNTIME_NATIVE_NONE 2 /* check of a frame that holds no function */

/*
 * The second family. Each native user frame of a sample whose code is in a range is followed by a
 * runtime frame in struct jitbpf_runtime_frames, in the order of the native ones, leaf first. So
 * user space finds the pairs by the ranges. Function 0 and check 0: its words cannot be read; or it
 * is a leaf that has not made its frame yet, or no more. That is so if its unwind row does not find
 * the caller by the frame pointer, or if the word at function_at is below its stack pointer. Then
 * JITBPF_RUNTIME_LEAF_RUNS is not set. Function 0 and check RUNTIME_NATIVE_NONE: the
 * frame holds none. The words of a frame are read anew at each sample, also those of reused
 * callers.
 *
 * Behind these, there can be runtime frames with functions whose owner is the frame pointer of a
 * native frame beyond the last one of the walk. Where these frames are is a guess.
 */
struct runtime_native_frames {
	__u32 range_count, layout_count;
	struct runtime_native_range range[RUNTIME_NATIVE_RANGES_MAX];
	struct runtime_native_layout layout[RUNTIME_NATIVE_LAYOUTS_MAX];
};

#endif
