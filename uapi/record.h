/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a source hands to the pipeline: a stream of records, each beginning
 * with struct jitbpf_record. The BPF programs write SAMPLE and JIT records into
 * the rings in just this form; the agent writes the others from the perf
 * side-band and the start-up scan; a recording holds the same bytes.
 *
 * Little-endian; all times are CLOCK_MONOTONIC in ns unless said otherwise;
 * pids and tids are those of jitbpf's own pid namespace. Enums only grow.
 */
#ifndef JITBPF_UAPI_RECORD_H
#define JITBPF_UAPI_RECORD_H

#include <linux/types.h>

#define JITBPF_COMM_MAX	    16
#define JITBPF_FRAMES_MAX   127 /* of each of the kernel and the user stack */
#define JITBPF_BUILD_ID_MAX 20

enum jitbpf_record_type {
	JITBPF_SAMPLE = 1,
	JITBPF_JIT = 2,
	JITBPF_MAPPING = 3,
	JITBPF_COMM = 4,
	JITBPF_FORK = 5,
	JITBPF_EXIT = 6,
	JITBPF_KERNEL_SYMBOL = 7,
	JITBPF_THROTTLE = 8,
	JITBPF_LOST_SAMPLES = 9,
	JITBPF_COUNTERS = 10,
	JITBPF_JOURNAL = 11,
	JITBPF_INNER_PID = 12,
	JITBPF_CODE = 13,
	JITBPF_CODE_EVENT = 14,	  /* uapi/code_event.h */
	JITBPF_CODE_REFUSED = 15, /* uapi/code_event.h */
				  /* 100 and up: in recordings only, uapi/recording.h */
};

struct jitbpf_record {
	__u32 size_bytes; /* whole record, this header included */
	__u16 type;	  /* enum jitbpf_record_type */
	__u16 flags;	  /* meaning depends on the type */
	__u64 time_ns;
};

/* How the walk of a user stack ended. */
enum jitbpf_stack_end {
	JITBPF_END_NONE = 0,	   /* there is no user stack: a kernel thread */
	JITBPF_END_ROOT = 1,	   /* reached the outermost frame */
	JITBPF_END_BAD_FRAME = 2,  /* frame pointer leads nowhere plausible */
	JITBPF_END_UNREADABLE = 3, /* stack memory could not be read */
	JITBPF_END_DEPTH = 4,	   /* more frames than JITBPF_FRAMES_MAX */
	JITBPF_END_COMPAT = 5,	   /* 32-bit code, not walked */
	JITBPF_END_NO_RULE = 6,	   /* at code of which it is not known how to go on */
	JITBPF_END_COPY = 7,	   /* the copy of the stack ended */
	JITBPF_END_NO_ROOM = 8,	   /* at NO_RULE, and no room for a copy of the stack */
	JITBPF_END_COUNT
};

#define JITBPF_SAMPLE_USER_REGS	     1u /* flags: struct jitbpf_user_regs behind the frames */
#define JITBPF_SAMPLE_STACK_COPY     2u /* flags: struct jitbpf_stack_copy behind that */
#define JITBPF_SAMPLE_FRAME_POINTERS 4u /* flags: some caller was found by UNWIND_FRAME_POINTER */

struct jitbpf_sample {
	struct jitbpf_record h;
	__u32 pid;
	__u32 tid;
	__u64 start_ns; /* the process leader's start, CLOCK_BOOTTIME */
	__u32 cpu;
	__u16 kernel_frames;
	__u16 user_frames;
	__u32 user_end; /* enum jitbpf_stack_end */
	/*
	 * Of how long before the mappings were, by which the kernel found callers; 0: by none. In
	 * the live source's records only: the pipeline knows what has been mapped since.
	 */
	__u32 mappings_age_ns;
	char comm[JITBPF_COMM_MAX]; /* the thread's, NUL-padded */
	/*
	 * Kernel frames, then user frames, each leaf first. Callers are return addresses;
	 * that of code which a signal interrupted is one more than where it was.
	 */
	__u64 ips[];
};

struct jitbpf_user_regs {
	__u64 ax, bx, cx, dx, si, di, bp, sp, ip, flags;
	__u64 r8, r9, r10, r11, r12, r13, r14, r15;
};

#define JITBPF_STACK_COPY_MAX (16u << 10)

/*
 * A stack that the kernel could not finish (JITBPF_END_NO_RULE): the registers of the last
 * frame in ips, and the stack from its sp on. In the live source's records only: the pipeline
 * finishes the stack, and records the sample without this.
 */
struct jitbpf_stack_copy {
	__u64 ip; /* where in the code it is: not one less nor one more */
	__u64 sp, bp;
	__u64 stack_top;      /* mm->start_stack: of the main thread, and of this program */
	__u64 thread_pointer; /* fs base */
	__u32 size_bytes;     /* of data */
	__u32 is_caller;      /* ip is a return address */
	__u8 data[];
};

/*
 * flags: read from the process's journal (uapi/jit_journal.h) instead of a hit. It
 * is whole, in one part that may exceed JITBPF_JIT_PART_MAX; h.time_ns is when it
 * was read, and the event's own time lies between what was asked for and that. It
 * may also have come by the probe: the sequence number tells. tid is the process's
 * where it is not known; start_ns is 0 where that is not known, as with LATE.
 */
#define JITBPF_JIT_FROM_JOURNAL 1u
#define JITBPF_JIT_LATE		2u /* from before we came, with FROM_JOURNAL */

/* The sequence number of an event of a forebear, which counted by itself, before the fork. */
#define JITBPF_JIT_INHERITED (~(__u64)0)

/* One hit of the shim's probe. h.time_ns is the hit's, the event's is within. */
struct jitbpf_jit {
	struct jitbpf_record h;
	__u32 pid;
	__u32 tid;
	__u64 start_ns;
	__u32 data_bytes;
	__u32 copy;  /* which copy of the shim it came by: the agent's business alone */
	__u8 data[]; /* one part: struct jitbpf_jit_header and what follows */
};

#define JITBPF_CODE_COPY_MAX (32u << 10) /* of one load's code */

/*
 * Machine code as it stood when it was told of: behind the JIT record of its load, in pieces, as
 * many as there was room for. In the live source's records only, as copies of stacks are.
 */
struct jitbpf_code {
	struct jitbpf_record h; /* time_ns: of the load's hit; flags: enum jitbpf_publisher */
	__u32 pid;
	__u32 offset; /* of data, in the code */
	__u64 start_ns;
	__u64 sequence; /* of the load */
	__u64 address;
	__u64 size_bytes; /* of all of the code */
	__u8 data[];
};

/*
 * A process's journal was read. The JIT records that were wanted of it stand in the
 * same round; those of JITBPF_JOURNAL_LATE come after it, and can take several rounds.
 *
 * Without LATE, events of from_ns to to_ns had been lost. Where JITBPF_JOURNAL_COMPLETE
 * is not set, not all of them were there: live has the numbers of those events that
 * stand in it and say what is live at to_ns; all that is not among them may have ended
 * from from_ns on.
 */
#define JITBPF_JOURNAL_LATE	  1u /* flags: not a loss; the process ran before us */
#define JITBPF_JOURNAL_UNREADABLE 2u /* flags: none, or it makes no sense; live is empty */
#define JITBPF_JOURNAL_COMPLETE	  4u /* flags: nothing is missing; live is empty */

struct jitbpf_journal {
	struct jitbpf_record h; /* time_ns: from_ns */
	__u32 pid;
	__u32 reserved;
	__u64 start_ns; /* 0 where not known, as with LATE */
	__u64 from_ns, to_ns;
	__u64 first_sequence; /* the lowest that may have been lost */
	__u64 next_sequence;  /* all below were numbered when it was read */
	__u64 left_out;	      /* events that the journal had no room for, so far */
	__u64 live[];	      /* sequence numbers, ascending */
};

/* An executable mapping, from mmap2 side-band or the start-up scan. */
struct jitbpf_mapping {
	struct jitbpf_record h;
	__u32 pid;
	__u32 tid;
	__u64 start_ns; /* 0 where not known (side-band) */
	__u64 address;
	__u64 size_bytes;
	__u64 file_offset;
	__u64 inode; /* 0: no file behind it */
	__u64 inode_generation;
	__u32 dev_major;
	__u32 dev_minor;
	__u32 protection; /* PROT_* */
	__u32 map_flags;  /* MAP_* */
	__u8 build_id[JITBPF_BUILD_ID_MAX];
	__u32 build_id_bytes; /* 0: none or not known */
	char path[]; /* NUL-terminated within size_bytes; "//anon", "[vdso]" as perf has them */
};

#define JITBPF_COMM_EXEC 1u /* flags: the process has just begun a new program */

struct jitbpf_comm {
	struct jitbpf_record h;
	__u32 pid;
	__u32 tid;
	__u64 start_ns; /* 0 where not known */
	char comm[JITBPF_COMM_MAX];
};

/*
 * FORK and EXIT. A FORK with pid == parent_pid is a new thread. An EXIT is that of
 * a process, with its last thread; tid == pid, and it names no parent.
 */
struct jitbpf_task {
	struct jitbpf_record h;
	__u32 pid;
	__u32 tid;
	__u32 parent_pid;
	__u32 parent_tid;
};

#define JITBPF_KERNEL_SYMBOL_GONE 1u /* flags: unregistered at h.time_ns */

/* Kernel code made at run time: BPF programs, trampolines. */
struct jitbpf_kernel_symbol {
	struct jitbpf_record h;
	__u64 address;
	__u32 size_bytes;
	__u32 kind;  /* PERF_RECORD_KSYMBOL_TYPE_* */
	char name[]; /* NUL-terminated within h.size_bytes */
};

/* A process that sees itself under another pid than we do: it is in a container. */
struct jitbpf_inner_pid {
	struct jitbpf_record h;
	__u32 pid;
	__u32 inner_pid; /* in its own pid namespace */
	__u64 start_ns;	 /* 0 where not known */
};

#define JITBPF_THROTTLE_END 1u /* flags: sampling on this CPU goes on again */

struct jitbpf_throttle {
	struct jitbpf_record h;
	__u32 cpu;
	__u32 reserved;
};

/* Samples of one process that found no room. Sent once, at the end. */
struct jitbpf_lost_samples {
	struct jitbpf_record h;
	__u32 pid;
	__u32 reserved;
	__u64 start_ns;
	__u64 count;
};

/* The totals behind uapi/loss.h, in its order. Sent once, at the end. */
struct jitbpf_counters {
	struct jitbpf_record h;
	__u64 values[];
};

_Static_assert(sizeof(struct jitbpf_record) == 16, "ABI");
_Static_assert(sizeof(struct jitbpf_sample) == 64, "ABI");
_Static_assert(sizeof(struct jitbpf_user_regs) == 144, "ABI");
_Static_assert(sizeof(struct jitbpf_stack_copy) == 48, "ABI");
_Static_assert(sizeof(struct jitbpf_jit) == 40, "ABI");
_Static_assert(sizeof(struct jitbpf_code) == 56, "ABI");
_Static_assert(sizeof(struct jitbpf_journal) == 72, "ABI");
_Static_assert(sizeof(struct jitbpf_mapping) == 112, "ABI");
_Static_assert(sizeof(struct jitbpf_comm) == 48, "ABI");
_Static_assert(sizeof(struct jitbpf_task) == 32, "ABI");
_Static_assert(sizeof(struct jitbpf_kernel_symbol) == 32, "ABI");
_Static_assert(sizeof(struct jitbpf_inner_pid) == 32, "ABI");
_Static_assert(sizeof(struct jitbpf_throttle) == 24, "ABI");
_Static_assert(sizeof(struct jitbpf_lost_samples) == 40, "ABI");
_Static_assert(sizeof(struct jitbpf_counters) == 16, "ABI");

#endif
