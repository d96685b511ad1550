/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How to find the frames that a runtime, such as an interpreter, keeps of its own: its runtime
 * frames. User space makes a recipe for each process that runs a known runtime. A BPF program
 * (bpf/runtime_walk.h) follows it, and knows no runtime.
 *
 * There are two families. A linked frame is an object in the memory of the process. It has pointers
 * to its function and to its caller's frame. The newest one is found from a fixed address or the
 * thread pointer. Where a runtime keeps it only in objects of the program, as Lua does its states,
 * no recipe leads to it. A native frame that holds a function is a frame of the native stack: words
 * at fixed distances from its frame pointer say which function it runs, and where. A recipe is of
 * the second family if its native.range_count is not 0.
 */
#ifndef JITBPF_UAPI_RUNTIME_RECIPE_H
#define JITBPF_UAPI_RUNTIME_RECIPE_H

#include <linux/types.h>

#include "uapi/runtime_native.h"

#define RUNTIME_PROCESSES_MAX	4096 /* with a recipe */
#define RUNTIME_STEPS_MAX	4
#define RUNTIME_LOOPS_MAX	4
#define RUNTIME_SWITCHES_MAX	4
#define RUNTIME_COMPILED_WORDS	12
#define RUNTIME_FILL_BYTES	48
#define RUNTIME_FILLS_MAX	2
#define RUNTIME_CHECK_BYTES_MAX 96
#define RUNTIME_CHECK_WORDS_MAX 4
#define RUNTIME_CHECK_NAMES_MAX 3
#define RUNTIME_CHECK_LINKS_MAX 4
#define RUNTIME_FRAME_KINDS_MAX 3
#define RUNTIME_FILE_STEPS_MAX	3

/* What the first address of a recipe is relative to. */
enum runtime_base {
	RUNTIME_BASE_ADDRESS = 0,
	RUNTIME_BASE_THREAD_POINTER = 1,
};

/* An offset that a layout does not have. */
#define RUNTIME_NO_OFFSET (-0x8000)

/* What is special about the newest frame while the innermost native frame is in a range. */
enum runtime_loop_flag {
	/* The register frame_register has the newest frame; the memory may be behind. */
	RUNTIME_LOOP_HAS_FRAME = 1,
	/* position_register has its position, if frame_register has the newest frame. */
	RUNTIME_LOOP_HAS_POSITION = 2,
	/* Its position in memory is of an earlier time: the frame gets position 0. */
	RUNTIME_LOOP_NO_POSITION = 4,
	/*
	 * It is machine code that the runtime has made of functions: the innermost frame that it
	 * stands for ran compiled. If a frame of the loop itself called it, both stand for the same
	 * frames.
	 */
	RUNTIME_LOOP_COMPILED = 8,
};

/* [start, end) */
struct runtime_range {
	__u64 start, end;
	__u32 flags; /* enum runtime_loop_flag; 0 where it is not a loop's */
	__u32 reserved;
};

/*
 * A link of the chain of objects behind a function object: the address of the next object is the
 * word at `step` of the one before; if `step` is RUNTIME_NO_OFFSET, it is the same object, the
 * function for the first link. Folded into the check are that address, if folds_address is set, and
 * the word at word_at of that object & word_mask, unless word_at is RUNTIME_NO_OFFSET. An address 0
 * ends the chain.
 */
struct runtime_check_link {
	__s16 step, word_at;
	__u16 folds_address, reserved;
	__u64 word_mask;
};

/*
 * The words of a function object that identify it. They are folded into the check word of a frame:
 * the words of the object at `offset`, `size_bytes` of them (a multiple of 8); then word_count more
 * words, at word[i]; then, for each of `name_count` names, the word at name_word[i] of the object
 * that the pointer at name_at[i] leads to, such as the hash of a string; 0 for a pointer 0; then
 * what the links of a chain say, which begins at the object; if links_mask is not 0, only for an
 * object with (4 bytes at links_at & links_mask) == links_value. A word that cannot be read makes
 * the check 0.
 *
 * Of native functions, see native_mask, only the words at `offset` and the first native_names names
 * are folded.
 */
struct runtime_check {
	__s16 offset;
	__u16 size_bytes;
	__u16 word_count, name_count, native_names;
	__s16 word[RUNTIME_CHECK_WORDS_MAX];
	__s16 name_at[RUNTIME_CHECK_NAMES_MAX];
	__s16 name_word[RUNTIME_CHECK_NAMES_MAX];
	__u16 link_count;
	__s16 links_at;
	__u32 links_mask, links_value;
	struct runtime_check_link link[RUNTIME_CHECK_LINKS_MAX];
};

/*
 * A frame whose function word is 0 is left out. But the words at object_at of the frame and then at
 * class_at may lead to the class whose address is the word at class_pointer. Then the frame stands
 * for another one, whose address is at frame_at of the object; the frame itself leads on to the
 * caller. If the word at parent_at of the object, and again of that object, is not 0, then it
 * stands for more frames, which are called by the other one. These are not followed: a frame of
 * function 0 and position 0 is in their place. So it is for the other frame if frame_at is
 * RUNTIME_NO_OFFSET, or if it cannot be read.
 */
struct runtime_stand_in {
	__u64 class_pointer; /* 0: no such frames. The word is 0 until the runtime has started */
	__s16 object_at, class_at, frame_at, parent_at;
};

/*
 * A thread can have several states, and the one that the steps lead to need not be the current one.
 * The word at `at` is the address of the state that has the runtime's lock. If the word at
 * thread_at of that state is the thread pointer, it is the thread's current one: the steps from
 * `step` on lead from it to the newest frame.
 */
struct runtime_holder {
	__u64 at; /* an address; 0: the steps lead to the current state */
	__s32 thread_at;
	__u32 step;
};

/*
 * A function can have an owner, an object that tells functions with one function object apart, such
 * as the method that a block of code belongs to. The words of a frame at object_at and outer_at are
 * among its further ones (more_at). The owner is the object at object_at if its kind,
 * (4 bytes at kind_at & kind_mask), is kind_value; or, if its kind is via_value, the object of kind
 * kind_value that its word at via_at leads to. If it is none, the word at outer_at, without the
 * bits of outer_clear, leads to the further words of an outer scope, where it is the same, up to a
 * scope with (4 bytes at entry_at & outermost_mask) != 0. The words of the owner at check_offset
 * are folded into the check of the frame.
 */
#define RUNTIME_SCOPES_MAX	10
#define RUNTIME_OWNER_BYTES_MAX 64 /* a power of two; with the words there */

struct runtime_owner {
	__s16 object_at, outer_at;
	__u32 outermost_mask, outer_clear;
	__u32 kind_mask; /* 0: functions have no owner */
	__u32 kind_value, via_value;
	__s16 kind_at, via_at;
	__s16 check_offset;
	__u16 check_bytes; /* a multiple of 8 */
	__u16 bytes;	   /* of an owner that are read; set by the publisher */
	__u16 reserved;
};

/*
 * Machine code that the runtime makes of functions, in memory of no file, wherever that is. Only
 * code of the runtime's own file calls it. So its frame ends with the return address, the first
 * word from rsp on that is in `callers`, of RUNTIME_COMPILED_WORDS words. Its caller's rbp is in
 * the word below that if it makes a frame pointer; else it keeps rbp. Positions of the newest frame
 * are those of an earlier time while it runs.
 *
 * Such code can set the newest frame before it has filled it. It is in such a state if, of its next
 * RUNTIME_FILL_BYTES bytes, the first four that are a word of fill[i] or link[i] are fill[i]: so
 * are the instructions that fill a frame last, and those that set the newest one. Then a sample has
 * a function with check 0 in its place.
 */
struct runtime_compiled {
	__u32 exists; /* 0: there is no such code */
	__u32 fill_count;
	__u32 fill[RUNTIME_FILLS_MAX], link[RUNTIME_FILLS_MAX];
	struct runtime_range callers; /* set by the publisher */
};

/* What a frame of a section stands for. */
enum runtime_section_frame {
	RUNTIME_SECTION_FUNCTION = 1, /* the function that its function word leads to */
	RUNTIME_SECTION_FILE = 2,     /* code of a source file that is in no function */
};

/* The owner of a frame of code that is in no function; its function is the name of the file. */
#define RUNTIME_FILE_OWNER 1

#define RUNTIME_TEXT_BYTES_MAX 240 /* less than RUNTIME_OBJECT_BYTES_MAX - 8 */

/*
 * Frames that are elements of arrays, one array in each section of a list of sections. The steps
 * lead to the newest section. At these offsets of a section are: array_at, the address of its
 * array, whose elements are `stride` bytes; number_at, the number of its newest frame, of 4 bytes;
 * kind_at, a number below 32, of 4 bytes; outer_at, the address of the section of its callers, 0:
 * there is none. In a frame, caller_at has the number of its caller, of 4 bytes. A negative number:
 * there is none in this section. Numbers become smaller from frame to frame, else the frames end as
 * unreadable.
 *
 * What a frame is, its kind tells: the first one with (4 bytes at entry_at & mask) == value. A
 * frame of no kind is left out. It is an entry if its word at return_at is 0. A section whose kind
 * is a bit of loop_kinds, and whose last frame is no entry, has a loop without a frame: an entry
 * without a function follows.
 *
 * A frame does not know where it is, but where it was called: place_at has the address of that
 * place of its caller. The place of the newest frame is the word at newest_place_at from the
 * address before the last step. But while that is the place of its call, it has not begun: then a
 * function has position 0, and a file is left out. While the leaf is in the
 * function `ending`, which ends frames, top_at has the number of the last element of the array: if
 * it is behind the newest frame, and of a kind, it is the frame that ends, and the place may be in
 * it. Then the place is that of its call. The position of a frame is the line, 4 bytes at
 * line_at of its place. Of a file, the name is the text at file_offset from where the
 * file_step_count steps lead from there. Its check has the text, up to
 * RUNTIME_TEXT_BYTES_MAX bytes with the NUL, and zeros up to RUNTIME_OBJECT_BYTES_MAX bytes. But if
 * (its first word & text_mask) == text_value, it is one of many that stand for the same: its check
 * has that word & text_mask alone.
 *
 * The outermost section begins with the program itself if the first element of its array has
 * (4 bytes at entry_at & program_mask) == program_value: that is the last frame then, an entry.
 */
struct runtime_sections {
	__u32 exists; /* 0: frames are not in sections */
	__u32 loop_kinds;
	__s16 array_at, number_at, kind_at, outer_at, top_at;
	__s16 caller_at, place_at, return_at, line_at;
	struct {
		__u32 mask, value;
		__u32 frame; /* enum runtime_section_frame */
	} kind[RUNTIME_FRAME_KINDS_MAX];
	__u32 kind_count;
	__u32 program_mask, program_value; /* mask 0: there is none */
	__u16 section_bytes;		   /* set by the publisher */
	__s16 file_offset;
	__s16 file_step[RUNTIME_FILE_STEPS_MAX];
	__u16 file_step_count;
	__s64 newest_place_at;
	__u64 text_mask, text_value; /* mask 0: there are no such texts */
	struct runtime_range ending;
	/* Code that adds a frame: while the leaf is in it, the newest frame lacks words. */
	struct runtime_range unfilled;
};

/*
 * All offsets in a frame are from 0 to RUNTIME_FRAME_BYTES_MAX, with the words there, and those in
 * an object to RUNTIME_OBJECT_BYTES_MAX.
 */
#define RUNTIME_FRAME_BYTES_MAX	 128 /* powers of two */
#define RUNTIME_OBJECT_BYTES_MAX 256
/* Where the further words of a frame are, as if they were in it. */
#define RUNTIME_MORE_AT	       96
#define RUNTIME_MORE_BYTES_MAX 32

struct runtime_recipe {
	/* These are set by the publisher of the recipe. */
	__u64 stack_top; /* as in struct unwind_process: it tells an exec and a reused pid */
	__u32 number;
	__u16 frame_bytes;		  /* of a frame, from its start on */
	__u16 native_bytes, object_bytes; /* of a native function, and of another one */

	/*
	 * The newest frame of a thread: address = base, then address = word at address + step[i],
	 * for each of step_count steps. A word 0 on the way: the thread has no frame.
	 */
	__s64 base;
	__u16 base_kind; /* enum runtime_base */
	__u16 step_count;
	__s32 step[RUNTIME_STEPS_MAX];
	struct runtime_holder holder;
	/*
	 * After so many steps, the address is that of an object on the native stack, in the frame
	 * of the loop that runs the newest runtime frame; 0: there is none. An entry that is a mark
	 * (entry_is_mark) is such an object, too.
	 */
	__u32 steps_to_stack;
	__u32 reserved3;

	/* The layout of a frame: offsets of words. function_clear: bits to clear in that word. */
	__s16 function_at;
	__s16 position_at; /* a pointer into the code of the function, or RUNTIME_NO_OFFSET */
	__s16 previous_at;
	/*
	 * A frame is an entry if (4 bytes at entry_at & entry_mask) >= entry_value: native code has
	 * called the interpreter's loop for it. The loop's native frame stands for the frames up to
	 * and with the entry. So entry_value is the least of several values; 0: each frame is one.
	 */
	__s16 entry_at;
	__u32 entry_mask, entry_value;
	__u32 function_clear;
	/*
	 * An entry is a mark between frames, on the native stack: its function word is no function.
	 * A sample carries it with function 0 and its own address as the position, also if the loop
	 * has no frame above it.
	 */
	__u32 entry_is_mark;
	/*
	 * Frames end with one that has no function, with (4 bytes at entry_at & last_mask) ==
	 * last_value; but not if it has a function word and lacks a position that it needs.
	 * last_mask 0: with one that has no previous one.
	 */
	__u32 last_mask, last_value;
	/*
	 * Frames without a pointer to their caller are beside each other: previous_at is
	 * RUNTIME_NO_OFFSET, and the frame of the caller is `stride` bytes behind.
	 */
	__s32 stride;
	/*
	 * more_bytes further words of a frame are at more_offset from where its word at more_at
	 * leads to. Their offsets begin at RUNTIME_MORE_AT. more_bytes 0: a frame has none.
	 */
	__s16 more_at, more_offset;
	__u16 more_bytes;
	/*
	 * The function is the object at via_at of what the function word leads to; via_at 0: that
	 * itself, but for via_is_first. If the word is 0, it is the word at other_at, for a frame
	 * with (4 bytes at entry_at & other_mask) == other_value; other_mask 0: there are none.
	 */
	__s16 via_at, other_at;
	__u16 via_is_first; /* via_at 0 is an offset, too */
	__u32 other_mask, other_value;
	/*
	 * Not 0: a frame with (4 bytes at entry_at & other_mask) >= needs_position has no function
	 * without a position. Others can have one: compiled code writes no position.
	 */
	__u32 needs_position;
	struct runtime_owner owner;
	__u64 position_mask; /* of the word at position_at: all ones, or what of it is used */
	/*
	 * A function is native code if (4 bytes at native_at of its object & native_mask) ==
	 * native_value; native_mask 0: none is. Its frame is no entry: no loop runs for it.
	 */
	__s16 native_at;
	/* Not 0: an entry is made before the loop is called for it. */
	__u16 entry_is_early;
	__u32 native_mask, native_value;
	struct runtime_check check;
	struct runtime_stand_in stand_in;

	/* The code of the interpreter's loop: a native frame in it stands for runtime frames. */
	struct runtime_range loops[RUNTIME_LOOPS_MAX];
	__u32 loop_count;
	/* Numbers of DWARF, for loops with flags. */
	__u8 frame_register, position_register;
	__u16 reserved;
	/*
	 * Code at the start of the loop. Up to its end, a native frame has no runtime frame yet; in
	 * it, the words that lead to the newest frame are not valid. It matters for the leaf only.
	 */
	struct runtime_range unsettled;
	/*
	 * Code that switches native stacks, as for a coroutine: while the leaf is in it, or was
	 * called from it, the runtime frames may be those of the other stack.
	 */
	struct runtime_range switches[RUNTIME_SWITCHES_MAX];
	__u32 switch_count, reserved4;
	/*
	 * Code that calls the loop again, in the middle of what a loop runs. The inner one stands
	 * for no frames of its own: it and its next outer one stand for the same.
	 */
	struct runtime_range again;
	struct runtime_compiled compiled;
	struct runtime_sections sections;

	/*
	 * With ranges, only these and position_mask, check and loops above are used. Then a loop
	 * is code that runs the function of an interpreted frame which has called it.
	 */
	struct runtime_native_frames native;
};

/*
 * One frame, as a sample carries it: the object of the function, the word at position_at, and the
 * check word, whose lowest bit is set if the frame is an entry; and the owner. Position 0: not
 * known. Owner 0: there is none.
 */
struct runtime_frame {
	__u64 function, position, check, owner;
};

/* What a check begins as. Not 0, as the words of a function can be: a check of 0 is none. */
#define RUNTIME_CHECK_BEGIN 1ull

/* Fold a word into a check. */
static inline __attribute__((always_inline)) __u64 runtime_check_fold(__u64 check, __u64 word)
{
	return (check ^ word) * 0x9e3779b97f4a7c15ull ^ (check >> 29);
}

#endif
