/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables: rules that find a frame's caller. User space fills the tables, and the BPF
 * programs walk stacks with them. The tables are a cache: entries may be evicted at any time. If an
 * entry is missing, the sample has a struct jitbpf_stack_copy, and user space adds the entry.
 *
 * Code is identified by its owner and an offset. The owner is an executable file, with file
 * offsets; or a process for code without a file (JIT code), with addresses as offsets.
 */
#ifndef JITBPF_UAPI_UNWIND_H
#define JITBPF_UAPI_UNWIND_H

#include <linux/types.h>

/* The low 3 bits of a row's cfa; without them, cfa is a multiple of 8. CFA: see x86-64 ABI. */
enum unwind_rule {
	UNWIND_CFA_RSP = 0,	  /* the CFA is rsp + offset */
	UNWIND_CFA_RBP = 1,	  /* the CFA is rbp + offset */
	UNWIND_CFA_SAVED = 2,	  /* the CFA is at rbp + offset; the saved rbp is relative to rbp */
	UNWIND_CFA_SAVED_RSP = 3, /* the CFA is distance + the word at rsp + slot */
	/*
	 * As UNWIND_CFA_RSP and UNWIND_CFA_RBP, in a function that cannot return. If its return
	 * address is 0, it is the first function of a stack that the program made itself.
	 */
	UNWIND_CFA_RSP_FINAL = 4,
	UNWIND_CFA_RBP_FINAL = 5,
	UNWIND_NARROW = 6,  /* 32-bit code: UNWIND_NARROW_CFA */
	UNWIND_COMMAND = 7, /* offset / 8 is an enum unwind_command */
};

enum unwind_command {
	UNWIND_NOT_MADE = 0, /* no row yet: user space has to make it */
	UNWIND_UNKNOWN = 1,  /* there is no unwind rule for this code */
	UNWIND_ROOT = 2,     /* the outermost frame, which has no caller */
	UNWIND_PLT = 3,	     /* the CFA is rsp + 8; from byte 11 of 16 on, rsp + 16 */
	UNWIND_SIGNAL = 4,   /* signal frame: rsp points to a struct ucontext */
	/* no rule; guess that rbp is a frame pointer, and check the caller (bpf/call_site.h) */
	UNWIND_FRAME_POINTER = 5,
	/*
	 * rbp is a frame pointer, but the caller's rsp is in the word below the saved rbp: the
	 * callee has moved the arguments.
	 */
	UNWIND_INTERPRETER = 6,
	/* rbp is a frame pointer, and the code has switched rsp to another stack since. */
	UNWIND_SWITCHED = 7,
	/* The caller's registers are in memory that the thread pointer leads to: UNWIND_SAVED_AT.
	 */
	UNWIND_SAVED = 8,
	UNWIND_FROZEN = 9, /* the callers were moved from the stack to the heap */
};

#define UNWIND_RULE_MASK 7

/*
 * The return address is at the CFA - 8, and the caller's rsp is the CFA, except for UNWIND_SIGNAL
 * and UNWIND_INTERPRETER.
 */
struct unwind_row {
	__u16 pc;  /* offset in the page; the row is valid up to the next row */
	__s16 rbp; /* the caller's rbp is at the CFA + 8 * rbp; UNWIND_RBP_KEPT: not saved */
	__s32 cfa; /* offset | enum unwind_rule */
};

#define UNWIND_RBP_KEPT 0x7fff

#define UNWIND_CFA(rule, offset)    ((__s32)((offset) | (rule)))
#define UNWIND_CFA_COMMAND(command) UNWIND_CFA(UNWIND_COMMAND, (command)*8)

/* UNWIND_CFA_SAVED_RSP packs two multiples of 8, each in [-MAX, MAX). */
#define UNWIND_SLOT_MAX		 (1 << 17)
#define UNWIND_SLOT_DISTANCE_MAX (1 << 16)
#define UNWIND_CFA_AT_SLOT(slot, distance)                                                         \
	((__s32)((__u32)((slot) / 8) << 17 | ((__u32)((distance) / 8) & 0x3fff) << 3 |             \
		 UNWIND_CFA_SAVED_RSP))
#define UNWIND_SLOT(cfa)	  (((cfa) >> 17) * 8)
#define UNWIND_SLOT_DISTANCE(cfa) (((__s32)((__u32)(cfa) << 15) >> 18) * 8)

/*
 * The row UNWIND_SAVED. Pointers lead from the word at thread pointer + 8 * rbp through the words
 * at offsets `first` and `second` to an object, which has rsp at `offset` and rip behind it. rbp is
 * at offset + frame. Offsets are multiples of 8.
 */
#define UNWIND_SAVED_FIRST_MAX	64   /* first / 8 is less */
#define UNWIND_SAVED_SECOND_MAX 1024 /* second / 8 */
#define UNWIND_SAVED_OFFSET_MAX 64   /* offset / 8 */
#define UNWIND_SAVED_FRAME_MAX	8    /* frame / 8 */
#define UNWIND_SAVED_AT(first, second, offset, frame)                                              \
	((__s32)((__u32)((frame) / 8) << 29 | (__u32)((offset) / 8) << 23 |                        \
		 (__u32)((second) / 8) << 13 | (__u32)((first) / 8) << 7 |                         \
		 (__u32)UNWIND_CFA_COMMAND(UNWIND_SAVED)))
#define UNWIND_SAVED_FIRST(cfa)	 (((__u32)(cfa) >> 7 & 63) * 8)
#define UNWIND_SAVED_SECOND(cfa) (((__u32)(cfa) >> 13 & 1023) * 8)
#define UNWIND_SAVED_OFFSET(cfa) (((__u32)(cfa) >> 23 & 63) * 8)
#define UNWIND_SAVED_FRAME(cfa)	 ((__u32)(cfa) >> 29) /* in words */

/*
 * Rows of 32-bit code, whose words have 4 bytes. In 64-bit code, the step by such a row fails, and
 * so do steps by other rows in 32-bit code; except for UNWIND_ROOT and UNWIND_FRAME_POINTER.
 * Offsets are in [-MAX, MAX). The caller's ebp is at the CFA + 4 * rbp.
 */
enum unwind_narrow_rule {
	UNWIND_NARROW_ESP = 0,	  /* the CFA is esp + offset */
	UNWIND_NARROW_EBP = 1,	  /* the CFA is ebp + offset */
	UNWIND_NARROW_SAVED = 2,  /* the CFA is at ebp + offset; the saved ebp is relative to ebp */
	UNWIND_NARROW_PLT = 3,	  /* the CFA is esp + 4; from byte 11 of 16 on, esp + 8 */
	UNWIND_NARROW_SIGNAL = 4, /* signal frame: a struct sigcontext is at esp + offset */
};

#define UNWIND_NARROW_MAX (1 << 25)
#define UNWIND_NARROW_CFA(rule, offset)                                                            \
	((__s32)((__u32)(offset) << 6 | (__u32)(rule) << 3 | UNWIND_NARROW))
#define UNWIND_NARROW_RULE(cfa)	  ((cfa) >> 3 & 7)
#define UNWIND_NARROW_OFFSET(cfa) ((cfa) >> 6)

/* Returns the enum unwind_command of a row with the rule UNWIND_COMMAND. */
#define UNWIND_COMMAND_OF(cfa) ((cfa) >> 3 & 15)

#define UNWIND_PAGE_SHIFT 16
#define UNWIND_PAGE_BYTES (1u << UNWIND_PAGE_SHIFT)

#define UNWIND_ROWS		    (1u << 20) /* in the array of rows */
#define UNWIND_ROWS_OF_ALL	    (1u << 22) /* if all processes are followed, with 4 GB of memory */
#define UNWIND_MAPPINGS_MAX	    (1u << 16) /* in the array of mappings */
#define UNWIND_PAGES_MAX	    (1u << 16)
#define UNWIND_PROCESSES_MAX	    (1u << 14)
#define UNWIND_PAGE_ROWS_MAX	    (1u << 14) /* of one page */
#define UNWIND_PROCESS_MAPPINGS_MAX (1u << 12)

/* Owners below UNWIND_OWNER_CODE are files. UNWIND_OWNER_CODE | n is process number n. */
#define UNWIND_OWNER_CODE 0x80000000u

struct unwind_page_key {
	__u32 owner;
	__u32 page; /* offset >> UNWIND_PAGE_SHIFT */
};

/*
 * The rows of a page in their array, ascending; the first has pc 0. User space reserves a page of
 * JIT code before it makes the rows, and publishes the rows only if the page is still reserved. It
 * replaces the rows of a page only if the page still exists. The BPF program removes a page as soon
 * as code in it changes, before user space knows of the change.
 */
struct unwind_page {
	__u32 first;
	__u32 count; /* 0: reserved */
};

/* An executable mapping: [start, end) maps the owner from offset on. */
struct unwind_mapping {
	__u64 start, end;
	__u64 offset;
	__u32 owner;
	__u32 reserved;
};

/*
 * A process, by pid: its mappings in their array, ascending and disjoint. stack_top is
 * mm->start_stack when the entry is made. If the process at a sample has another value, it has
 * executed another program, or the pid was reused. Then the entry is stale.
 */
struct unwind_process {
	__u64 stack_top;
	__u64 known_ns; /* the mappings include those of this time; CLOCK_MONOTONIC */
	__u32 first;
	__u32 count;
	__u32 code_owner; /* UNWIND_OWNER_CODE | number of the process */
	__u32 reserved;
};

_Static_assert(sizeof(struct unwind_row) == 8, "ABI");
_Static_assert(sizeof(struct unwind_page_key) == 8, "ABI");
_Static_assert(sizeof(struct unwind_page) == 8, "ABI");
_Static_assert(sizeof(struct unwind_mapping) == 32, "ABI");
_Static_assert(sizeof(struct unwind_process) == 32, "ABI");

#endif
