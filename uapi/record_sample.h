/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The record SAMPLE, and what follows its frames (uapi/record.h). */
#ifndef JITBPF_UAPI_RECORD_SAMPLE_H
#define JITBPF_UAPI_RECORD_SAMPLE_H

#include <linux/types.h>

#include "uapi/record_head.h"
#include "uapi/runtime_recipe.h"

#define JITBPF_KERNEL_FRAMES_MAX  127  /* of a sample */
#define JITBPF_USER_FRAMES_MAX	  1024 /* of a sample: native ones */
#define JITBPF_RUNTIME_FRAMES_MAX 1024 /* of a sample, as the BPF program reads them */

#define JITBPF_SAMPLE_FRAMES_MAX (JITBPF_KERNEL_FRAMES_MAX + JITBPF_USER_FRAMES_MAX)

/* Words of the user frames of a finished sample, and of all its frames. */
#define JITBPF_USER_WORDS_MAX	(JITBPF_USER_FRAMES_MAX + 1 + 2 * JITBPF_RUNTIME_FRAMES_MAX)
#define JITBPF_SAMPLE_WORDS_MAX (JITBPF_KERNEL_FRAMES_MAX + JITBPF_USER_WORDS_MAX)

/* How the walk of a user stack ended. */
enum jitbpf_stack_end {
	JITBPF_END_NONE = 0,	   /* no user stack: a kernel thread */
	JITBPF_END_ROOT = 1,	   /* reached the outermost frame */
	JITBPF_END_BAD_FRAME = 2,  /* implausible frame */
	JITBPF_END_UNREADABLE = 3, /* stack memory could not be read */
	JITBPF_END_DEPTH = 4,	   /* more frames than JITBPF_USER_FRAMES_MAX */
	JITBPF_END_COMPAT = 5,	/* code that is neither 64-bit nor flat 32-bit code: not walked */
	JITBPF_END_NO_RULE = 6, /* no unwind rule for the code */
	JITBPF_END_COPY = 7,	/* reached the end of the copied stack */
	JITBPF_END_NO_ROOM = 8, /* NO_RULE, and the ring had no room for a stack copy */
	JITBPF_END_NO_ROOT = 9, /* no caller, at code where no stack is known to begin */
	JITBPF_END_FROZEN = 10, /* the callers of a virtual thread are not on the stack */
	JITBPF_END_COUNT
};

/* flags: structures that follow the frames, in this order */
#define JITBPF_SAMPLE_USER_REGS	     1u	  /* struct jitbpf_user_regs */
#define JITBPF_SAMPLE_WEIGHT	     128u /* __u64, see jitbpf_sample */
#define JITBPF_SAMPLE_RUNTIME_FRAMES 256u /* struct jitbpf_runtime_frames */
#define JITBPF_SAMPLE_CODE_BYTES     8u	  /* struct jitbpf_code_bytes */
#define JITBPF_SAMPLE_STACK_COPY     2u	  /* struct jitbpf_stack_copy */
#define JITBPF_SAMPLE_FRAME_POINTERS 4u	  /* flags: UNWIND_FRAME_POINTER found a caller */
/*
 * flags, in the rings of CPUs only: words lacks the N outermost user frames, where N is user_end >>
 * JITBPF_REUSED_SHIFT. They equal the N outermost user frames of the CPU's previous sample with
 * this flag.
 */
#define JITBPF_SAMPLE_REUSES_CALLERS 32u
#define JITBPF_REUSED_SHIFT	     16
/*
 * flags, by intake: the outermost user frame is in JIT code that was replaced without a report, or
 * that could not be checked in time. The callers of that frame are left out.
 */
#define JITBPF_SAMPLE_CODE_REPLACED 16u
/*
 * flags, by intake: the code of the outermost user frame is unknown. The sample may be from the
 * code that was reported there at its time, or from code that was reported later or never. The
 * callers of that frame are left out.
 */
#define JITBPF_SAMPLE_CODE_UNTOLD 64u
/*
 * flags, by intake: some runtime frames of the sample are missing, since they could not be read or
 * do not match the native frames. Native frames of the runtime are in their place.
 */
#define JITBPF_SAMPLE_RUNTIME_CUT 512u

/*
 * A frame is one or more words. The highest byte of its first word says its kind. It is 0 or 255 in
 * an address. Live samples have addresses only: intake cuts a stack at any other word, since a walk
 * can find any value. Finished samples hold whole frames.
 */
enum jitbpf_frame_kind {
	JITBPF_FRAME_ADDRESS = 0,
	/*
	 * A function of a runtime, such as an interpreter: the low bits are its number
	 * (JITBPF_RUNTIME_FUNCTION). The second word is the position in it.
	 */
	JITBPF_FRAME_RUNTIME = 1,
	/*
	 * Native code of a runtime that only serves runtime frames of the same stack, such as the
	 * loop of an interpreter: the low bits are an address, as of a frame of kind ADDRESS.
	 */
	JITBPF_FRAME_INTERPRETER = 2,
	/*
	 * Frames are missing. Those that called the missing ones may follow, such as frames of a
	 * runtime where the walk of the native stack ended (user_end). The low bits are 0.
	 */
	JITBPF_FRAME_GAP = 3,
};

#define JITBPF_FRAME_KIND_SHIFT 56

/*
 * A position in a function of a runtime: the line in its file (0: not known), and the flag that
 * the function ran as machine code that the runtime has made of it.
 */
#define JITBPF_POSITION_LINE	 0xffffffffull
#define JITBPF_POSITION_COMPILED (1ull << 32)

/*
 * The weight of a sample says for how much of its event the sample stands: the period of the event
 * or, if the event has none, the sample's part JITBPF_SAMPLE_WEIGHT.
 */
struct jitbpf_sample {
	struct jitbpf_record h;
	__u32 pid;
	__u32 tid;
	__u64 start_ns; /* start of the process's first thread, CLOCK_BOOTTIME */
	__u16 cpu;
	__u16 event;	    /* number, below JITBPF_EVENTS_MAX */
	__u16 kernel_words; /* of kernel frames, all of them addresses */
	__u16 user_words;   /* of user frames */
	__u32 user_end;	    /* enum jitbpf_stack_end */
	/*
	 * Age in ns of the mapping snapshot that the kernel's walk used; 0 if it used none. Live
	 * records only: the pipeline checks the stack against newer mappings.
	 */
	__u32 mappings_age_ns;
	char comm[JITBPF_COMM_MAX]; /* of the thread, NUL-padded */
	/*
	 * The words of kernel frames, then of user frames (enum jitbpf_frame_kind), leaf first in
	 * both. The address of a caller is its return address. For code that a signal interrupted,
	 * it is the interrupted address + 1.
	 */
	__u64 words[];
};

struct jitbpf_user_regs {
	__u64 ax, bx, cx, dx, si, di, bp, sp, ip, flags;
	__u64 r8, r9, r10, r11, r12, r13, r14, r15;
};

/* How runtime frames end. */
enum jitbpf_runtime_end {
	JITBPF_RUNTIME_ROOT = 1,
	JITBPF_RUNTIME_UNREADABLE = 2, /* the next frame, or the way to the first one */
	JITBPF_RUNTIME_DEPTH = 3,      /* more frames than JITBPF_RUNTIME_FRAMES_MAX */
	/* The thread is entering the interpreter's loop: the newest frame is not known. */
	JITBPF_RUNTIME_UNSETTLED = 4,
};

/* What is known of runtime frames. */
enum jitbpf_runtime_flag {
	/* The innermost native frame is the loop that runs the newest frame; or it is not. */
	JITBPF_RUNTIME_LEAF_RUNS = 1,
	JITBPF_RUNTIME_LEAF_RUNS_NOT = 2,
	/* They are of a state of the thread that need not be the current one. */
	JITBPF_RUNTIME_DOUBTFUL = 4,
};

/*
 * The runtime frames of the thread, newest first (uapi/runtime_recipe.h). Live records only: intake
 * merges them with the other user frames.
 */
struct jitbpf_runtime_frames {
	__u32 count;  /* of frames */
	__u32 recipe; /* its number */
	__u32 end;    /* enum jitbpf_runtime_end */
	__u32 flags;  /* enum jitbpf_runtime_flag */
	__u64 thread_pointer;
	struct runtime_frame frames[];
};

#define JITBPF_CODE_BYTES 64

/*
 * The memory around the innermost user frame in code without a file, as of the sample. Live records
 * only: intake compares these bytes with the code that was reported there, and records the sample
 * without them.
 */
struct jitbpf_code_bytes {
	__u64 address; /* all bytes are in one page */
	__u8 bytes[JITBPF_CODE_BYTES];
};

#define JITBPF_STACK_COPY_MAX (64u << 10)

/* Limit of a copy on a stack whose end is not known, such as that of a coroutine. */
#define JITBPF_UNBOUNDED_COPY_MAX (16u << 10)

/*
 * A stack whose walk the kernel could not complete (JITBPF_END_NO_RULE): the registers of the
 * last frame in words, and the stack from its sp on. Live records only: intake completes the stack,
 * and records the sample without this copy. Pages of a stack that were never written, as in a large
 * array, cannot be read. They are missing in the copy, which continues after them.
 */
struct jitbpf_stack_copy {
	__u64 ip; /* the exact address; see is_caller */
	__u64 sp, bp;
	__u64 stack_top;      /* mm->start_stack: top of the main thread's stack */
	__u64 thread_pointer; /* fs base */
	__u32 size_bytes;     /* of data */
	__u16 is_caller;      /* ip is a return address */
	__u16 is_narrow;      /* the frame is of 32-bit code */
	__u32 missing;	      /* bit n: the page n pages after that of sp could not be read */
	__u32 reserved;	      /* 0 */
	__u8 data[];
};

_Static_assert(sizeof(struct jitbpf_sample) == 64, "ABI");
_Static_assert(sizeof(struct jitbpf_user_regs) == 144, "ABI");
_Static_assert(sizeof(struct jitbpf_code_bytes) == 72, "ABI");
_Static_assert(sizeof(struct jitbpf_stack_copy) == 56, "ABI");
_Static_assert(sizeof(struct jitbpf_runtime_frames) == 24, "ABI");

#endif
