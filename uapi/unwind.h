/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How to find a frame's caller, as the BPF programs and user space share it:
 * user space makes the rows and puts them into the programs' maps, the programs
 * walk by them. All of it is a cache: what is not there is asked for with the
 * next stack that wants it (struct jitbpf_stack_copy), and may go at any time.
 *
 * Code is named by its owner and an offset in it: an executable file and the file offset, or
 * the memory of one process that holds code without a file (JIT code) and the address.
 */
#ifndef JITBPF_UAPI_UNWIND_H
#define JITBPF_UAPI_UNWIND_H

#include <linux/types.h>

/* In the low bits of a row's cfa, which is a multiple of 8 without them. CFA: see the x86-64 ABI.
 */
enum unwind_rule {
	UNWIND_CFA_RSP = 0,	  /* the CFA is rsp + offset */
	UNWIND_CFA_RBP = 1,	  /* the CFA is rbp + offset */
	UNWIND_CFA_SAVED = 2,	  /* the CFA stands at rbp + offset; and rbp's place is from rbp */
	UNWIND_CFA_SAVED_RSP = 3, /* the CFA is 8 + what stands at rsp + offset */
	UNWIND_COMMAND = 7,	  /* offset / 8 is an enum unwind_command */
};

enum unwind_command {
	UNWIND_NOT_MADE = 0,	  /* no row has been made for this code: user space shall */
	UNWIND_UNKNOWN = 1,	  /* nobody can tell */
	UNWIND_ROOT = 2,	  /* the outermost frame: it has no caller */
	UNWIND_PLT = 3,		  /* the CFA is rsp + 8, or + 16 from the 11th of 16 bytes on */
	UNWIND_SIGNAL = 4,	  /* rsp points to the kernel's struct ucontext */
	UNWIND_FRAME_POINTER = 5, /* nobody says; that rbp points to the frame is a guess */
};

#define UNWIND_RULE_MASK 7

/* The return address lies at the CFA - 8, the caller's rsp is the CFA. */
struct unwind_row {
	__u16 pc;  /* from here on, up to the next row; in its page */
	__s16 rbp; /* the caller's rbp lies at the CFA + 8 * this; UNWIND_RBP_KEPT: is as it is */
	__s32 cfa; /* offset | enum unwind_rule */
};

#define UNWIND_RBP_KEPT 0x7fff

#define UNWIND_CFA(rule, offset)    ((__s32)((offset) | (rule)))
#define UNWIND_CFA_COMMAND(command) UNWIND_CFA(UNWIND_COMMAND, (command)*8)

#define UNWIND_PAGE_SHIFT 16
#define UNWIND_PAGE_BYTES (1u << UNWIND_PAGE_SHIFT)

#define UNWIND_ROWS_MAX		    (1u << 20) /* in the array of rows */
#define UNWIND_MAPPINGS_MAX	    (1u << 16) /* in the array of mappings */
#define UNWIND_PAGES_MAX	    (1u << 16)
#define UNWIND_PROCESSES_MAX	    (1u << 14)
#define UNWIND_PAGE_ROWS_MAX	    (1u << 14) /* of one page */
#define UNWIND_PROCESS_MAPPINGS_MAX (1u << 12)

/* Numbers of files are below it; the code of process number n is UNWIND_OWNER_CODE | n. */
#define UNWIND_OWNER_CODE 0x80000000u

struct unwind_page_key {
	__u32 owner;
	__u32 page; /* offset >> UNWIND_PAGE_SHIFT */
};

/*
 * Its rows in the array, ascending; the first has pc 0. A page of code is reserved before its
 * rows are made, and only what is still reserved then gets them: the programs take it away when
 * code in it changes, of which user space may not know yet.
 */
struct unwind_page {
	__u32 first;
	__u32 count; /* 0: reserved */
};

/* An executable mapping: [start, end) holds what the owner has from offset on. */
struct unwind_mapping {
	__u64 start, end;
	__u64 offset;
	__u32 owner;
	__u32 reserved;
};

/*
 * A process by its pid: its mappings in their array, ascending and apart. stack_top is
 * mm->start_stack when this was made, which differs from program to program: with another
 * one, the process has begun another program or is another process.
 */
struct unwind_process {
	__u64 stack_top;
	__u64 known_ns; /* they are those from before it */
	__u32 first;
	__u32 count;
	__u32 code_owner; /* UNWIND_OWNER_CODE | its number */
	__u32 reserved;
};

_Static_assert(sizeof(struct unwind_row) == 8, "ABI");
_Static_assert(sizeof(struct unwind_page_key) == 8, "ABI");
_Static_assert(sizeof(struct unwind_page) == 8, "ABI");
_Static_assert(sizeof(struct unwind_mapping) == 32, "ABI");
_Static_assert(sizeof(struct unwind_process) == 32, "ABI");

#endif
