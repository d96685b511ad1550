/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The records that a source passes to the pipeline. Each begins with struct jitbpf_record. The
 * BPF programs write SAMPLE, JIT, CODE, INNER_PID, OWNER, PROGRAM and EXIT records into the rings;
 * the agent makes the others, mostly from the perf side-band and the start-up scan. A recording
 * holds the same bytes.
 *
 * Little-endian. Times are CLOCK_MONOTONIC in ns unless stated otherwise. Pids and tids are
 * those of jitbpf's own pid namespace. Enums only grow.
 */
#ifndef JITBPF_UAPI_RECORD_H
#define JITBPF_UAPI_RECORD_H

#include <linux/types.h>

#include "uapi/kernel_maps.h"
#include "uapi/runtime_recipe.h"

#define JITBPF_COMM_MAX		  16
#define JITBPF_KERNEL_FRAMES_MAX  127  /* of a sample */
#define JITBPF_USER_FRAMES_MAX	  1024 /* of a sample: native ones */
#define JITBPF_RUNTIME_FRAMES_MAX 1024 /* of a sample, as the BPF program reads them */
#define JITBPF_BUILD_ID_MAX	  20

/*
 * A sample belongs to one of these events of its run. Event 0 is CPU time; the description of the
 * run has the others.
 */
#define JITBPF_EVENTS_MAX 16

#define JITBPF_SAMPLE_FRAMES_MAX (JITBPF_KERNEL_FRAMES_MAX + JITBPF_USER_FRAMES_MAX)

/* Words of the user frames of a finished sample, and of all its frames. */
#define JITBPF_USER_WORDS_MAX	(JITBPF_USER_FRAMES_MAX + 1 + 2 * JITBPF_RUNTIME_FRAMES_MAX)
#define JITBPF_SAMPLE_WORDS_MAX (JITBPF_KERNEL_FRAMES_MAX + JITBPF_USER_WORDS_MAX)

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
	JITBPF_OWNER = 16,
	JITBPF_KEPT_CODE = 17,
	JITBPF_CGROUP = 18,
	JITBPF_JIT_COUNTS = 19,
	JITBPF_BUILD_ID = 20,
	JITBPF_EVENT_COUNTS = 21,
	JITBPF_RUNTIME = 22,
	JITBPF_RUNTIME_FUNCTION = 23,
	JITBPF_PROGRAM = 24,
	/* 100 and up: in recordings only, uapi/recording.h */
};

struct jitbpf_record {
	__u32 size_bytes; /* of the record with this header */
	__u16 type;	  /* enum jitbpf_record_type */
	__u16 flags;	  /* their meaning depends on the type, except for the next one */
	__u64 time_ns;
};

/*
 * jitbpf_record.flags of any type, in recordings only: an earlier recording of the same run counts
 * the event. In this recording, the record only changes the state.
 */
#define JITBPF_RECORD_COUNTED 0x8000u

/*
 * jitbpf_record.flags of any type but samples, in recordings only: bit N of the field is set if the
 * run had no memory for the N-th thing that the record adds to the state, counted from 0; the last
 * bit stands for all further ones. A replay leaves out the same.
 */
#define JITBPF_RECORD_REFUSED_SHIFT 8
#define JITBPF_RECORD_REFUSED	    (0x7fu << JITBPF_RECORD_REFUSED_SHIFT)

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
	 * Native frames are missing: the walk of the stack ended here (user_end). Frames of a
	 * runtime that called the missing ones follow. The low bits are 0.
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

/*
 * flags: read from the process's journal (uapi/jit_journal.h), not from the probe. The record
 * has one part, which may exceed JITBPF_JIT_PART_MAX. h.time_ns is when the journal was read;
 * the event's own time is clamped to the requested interval. The probe may report the same event;
 * the reader detects duplicates by sequence number. tid is the pid if the thread is not known.
 * start_ns is 0 if not known, as with LATE.
 */
#define JITBPF_JIT_FROM_JOURNAL 1u
#define JITBPF_JIT_LATE		2u /* from before the profiler attached; with FROM_JOURNAL */

/*
 * Sequence number of an event that a child inherited from before its fork. The number that its
 * ancestor gave it cannot be compared with the child's own.
 */
#define JITBPF_JIT_INHERITED (~(__u64)0)

/* One hit of the shim's probe. h.time_ns is the time of the hit; data has the event's time. */
struct jitbpf_jit {
	struct jitbpf_record h;
	__u32 pid;
	__u32 tid;
	__u64 start_ns;
	__u32 data_bytes;
	__u32 copy;  /* the agent's number of the copy of the shim; only the agent uses it */
	__u8 data[]; /* one part: struct jitbpf_jit_header and its slice */
};

#define JITBPF_CODE_COPY_MAX (1u << 20) /* bytes of one load's code */

/*
 * A piece of machine code, copied when its load was reported. The pieces follow the JIT record
 * of the load, as many as the ring had room for. Live records only.
 */
struct jitbpf_code {
	struct jitbpf_record h; /* time_ns: time of the hit; flags: enum jitbpf_publisher */
	__u32 pid;
	__u32 offset; /* of data in the code */
	__u64 start_ns;
	__u64 sequence; /* of the load */
	__u64 address;
	__u64 size_bytes; /* of the whole code */
	__u8 data[];
};

#define JITBPF_KEPT_CODE_MAX (1u << 20) /* bytes of one region's code */

/*
 * The beginning of the machine code of a region, as copied at its load or as read from memory.
 * h.time_ns is the time of the region's first sample. The record comes before that sample, once for
 * each region. Only in recordings, with `record --code`.
 */
struct jitbpf_kept_code {
	struct jitbpf_record h;
	__u32 pid;
	__u32 reserved;
	__u64 start_ns;
	__u64 address;	  /* of the region, as the process sees it */
	__u64 size_bytes; /* of the region */
	__u8 data[];
};

/*
 * The agent has read a process's journal.
 *
 * With JITBPF_JOURNAL_LATE, the process ran before the profiler attached. The JIT records of
 * the journal follow, in one or several rounds.
 *
 * Without it, events between from_ns and to_ns were lost. The round holds those that the journal
 * has. If JITBPF_JOURNAL_COMPLETE is not set, some are missing for good. Then live has the sequence
 * numbers of the events whose code the journal confirms as live at to_ns. All other code may have
 * ended at any time from from_ns on. Code that ended after to_ns and before the journal was read
 * may be among it, since a compaction drops the entries of code that has ended.
 */
#define JITBPF_JOURNAL_LATE 1u /* flags: a late attach, not a loss */
/* flags: no journal, or an invalid one: live is empty; or too much of it: live has a part of it */
#define JITBPF_JOURNAL_UNREADABLE 2u
#define JITBPF_JOURNAL_COMPLETE	  4u /* flags: nothing is missing; live is empty */
/* flags, with UNREADABLE: the library that wrote the journal is of another version */
#define JITBPF_JOURNAL_OTHER_VERSION 8u

/* next_sequence, with LATE: not known. The number of the first event that follows is used. */
#define JITBPF_JOURNAL_FROM_FIRST (~(__u64)0)

struct jitbpf_journal {
	struct jitbpf_record h; /* time_ns: from_ns */
	__u32 pid;
	__u16 publisher; /* enum jitbpf_publisher */
	__u16 reserved;
	__u64 start_ns; /* 0 if not known, as with LATE */
	__u64 from_ns, to_ns;
	__u64 first_sequence; /* the lowest number that may have been lost */
	__u64 next_sequence;  /* of the process when the journal was read */
	__u64 left_out;	      /* number of events so far for which the journal had no room */
	__u64 live[];	      /* sequence numbers, ascending */
};

/*
 * flags, live records only. After a loss of side-band records, the mappings of a process are read
 * again. Each is emitted twice, with equal fields: as DOUBTFUL with the time of the loss, and as
 * READ_AGAIN with the time of the reading. Intake drops records that equal the mapping it knows.
 * Where a DOUBTFUL record differs from the known mapping, the mapping is unknown from that time on.
 */
#define JITBPF_MAPPING_DOUBTFUL	  1u
#define JITBPF_MAPPING_READ_AGAIN 2u

/*
 * flags, live records only. The file of a mapping had not answered when the mapping was reported,
 * and is identified now. Intake drops the record if it does not equal the mapping it knows.
 */
#define JITBPF_MAPPING_IDENTIFIED 8u

/*
 * flags, finished records only: the mapping is the one that is known there, whose file was
 * identified now. It was not mapped anew.
 */
#define JITBPF_MAPPING_SAME 16u

/* The path of a finished MAPPING record for a range whose mapping intake does not know. */
#define JITBPF_MAPPING_UNKNOWN_PATH "//unknown"

/*
 * flags: the process maps a shared object and, as far as is known, could not write to it. Then its
 * reports of code there do not hold for other processes.
 */
#define JITBPF_MAPPING_READ_ONLY 4u

/* An executable mapping, from the side-band (mmap2) or the scan of /proc. */
struct jitbpf_mapping {
	struct jitbpf_record h;
	__u32 pid;
	__u32 tid;
	__u64 start_ns; /* 0 if not known (side-band) */
	__u64 address;
	__u64 size_bytes;
	__u64 file_offset;
	__u64 inode;		/* 0: no file */
	__u64 inode_generation; /* differs between files that had the same inode; 0: not known */
	__u32 dev_major;
	__u32 dev_minor;
	__u32 protection; /* PROT_* */
	__u32 map_flags;  /* MAP_* */
	__u8 build_id[JITBPF_BUILD_ID_MAX];
	__u32 build_id_bytes; /* 0: none or not known */
	char path[]; /* NUL-terminated within size_bytes; "//anon" and "[vdso]" as in perf */
};

/*
 * The build ID of the file that a sampled thread executed, as the kernel read it from the mapping.
 * From the BPF program to the agent only, for processes in the map `files_gone`: it comes in the
 * ring before the sample.
 */
struct jitbpf_build_id {
	struct jitbpf_record h;
	__u32 pid;
	__u32 reserved;
	__u64 address;			    /* of the instruction */
	__u64 file_offset;		    /* of the same */
	__u8 build_id[JITBPF_BUILD_ID_MAX]; /* padded with zeros */
	__u32 reserved2;
};

/*
 * Live records only: a process has executed a program, which may load a runtime. The mappings of
 * the exec itself have earlier times.
 */
struct jitbpf_program {
	struct jitbpf_record h;
	__u32 pid;
	__u32 reserved;
	__u64 stack_top; /* mm->start_stack */
	struct jitbpf_program_file file;
};

#define JITBPF_COMM_EXEC       1u /* flags: the process has executed a new program */
#define JITBPF_COMM_READ_AGAIN 2u /* flags, live records only: like JITBPF_MAPPING_READ_AGAIN */

struct jitbpf_comm {
	struct jitbpf_record h;
	__u32 pid;
	__u32 tid;
	__u64 start_ns; /* 0 if not known */
	char comm[JITBPF_COMM_MAX];
};

/*
 * FORK and EXIT. A FORK with pid == parent_pid is a new thread. An EXIT is the exit of a
 * process with its last thread; tid is the pid, and the parent is 0.
 */
struct jitbpf_task {
	struct jitbpf_record h;
	__u32 pid;
	__u32 tid;
	__u32 parent_pid;
	__u32 parent_tid;
};

#define JITBPF_KERNEL_SYMBOL_GONE 1u /* flags: unregistered at h.time_ns */

/* Kernel code that is generated at run time: BPF programs, trampolines. */
struct jitbpf_kernel_symbol {
	struct jitbpf_record h;
	__u64 address;
	__u32 size_bytes;
	__u32 kind;  /* PERF_RECORD_KSYMBOL_TYPE_* */
	char name[]; /* NUL-terminated within h.size_bytes */
};

/* A process in another pid namespace, such as a container. */
struct jitbpf_inner_pid {
	struct jitbpf_record h;
	__u32 pid;
	__u32 inner_pid; /* in its own pid namespace */
	__u64 start_ns;	 /* 0 if not known */
};

#define JITBPF_UNKNOWN_USER (~(__u32)0) /* no uid: the kernel does not use it */
#define JITBPF_NESTED_USERS (~(__u32)1) /* charged_uid of users in deeply nested namespaces */

/*
 * The owner of a process. Reported at the fork of the process, and when an exec, a sample or a JIT
 * record shows a change. Uids are those of the initial user namespace. charged_uid is the user that
 * budgets charge. It is uid or, in a user namespace, the owner of that namespace's outermost
 * ancestor below the initial namespace. So a user who maps many uids into a namespace is charged as
 * one user. Users of namespaces that are nested more than 8 deep share the budget of
 * JITBPF_NESTED_USERS.
 */
struct jitbpf_owner {
	struct jitbpf_record h;
	__u32 pid;
	__u32 uid;
	__u64 start_ns; /* 0 if not known */
	__u64 cgroup;	/* id in the cgroup v2 hierarchy; 0: none */
	__u32 charged_uid;
	__u32 fs_uid; /* owner of the files that the process creates */
};

/*
 * In recordings that hold only the processes with samples: counts of all JIT code that the process
 * has reported so far, also before its first sample. They replace the counts of earlier records.
 */
struct jitbpf_jit_counts {
	struct jitbpf_record h;
	__u32 pid;
	__u32 reserved;
	__u64 start_ns;
	__u64 values[]; /* by enum jitbpf_jit_total; missing ones are 0 */
};

/* Indices of jitbpf_jit_counts.values: the members of struct jit_counts (profile/ledger.h). */
enum jitbpf_jit_total {
	JITBPF_TOTAL_METHODS,
	JITBPF_TOTAL_CODE_BYTES,
	JITBPF_TOTAL_UNLOADS,
	JITBPF_TOTAL_INLINES,
	JITBPF_TOTAL_UPDATES,
	JITBPF_TOTAL_MOVES,
	JITBPF_TOTAL_MERGED,
	JITBPF_TOTAL_OTHER_EVENTS,
	JITBPF_TOTAL_ALREADY_LOADED,
	JITBPF_TOTAL_RECOVERED,
	JITBPF_TOTAL_INLINE_NO_PARENT,
	JITBPF_TOTAL_INLINE_OUTSIDE,
	JITBPF_TOTAL_INLINE_OVERLAP,
	JITBPF_TOTAL_UPDATE_REFUSED,
	JITBPF_TOTAL_IN_GAP,
	JITBPF_TOTAL_TRUNCATED,
	JITBPF_TOTAL_INCOMPLETE,
	JITBPF_TOTAL_MALFORMED,
	JITBPF_TOTAL_INVALID,
	JITBPF_TOTAL_OVER_BUDGET,
	JITBPF_TOTAL_NOT_UNDERSTOOD,
	JITBPF_TOTAL_LEFT_OUT,
	JITBPF_TOTAL_UNREADABLE,
	JITBPF_TOTAL_OTHER_VERSION,
	JITBPF_TOTAL_REPLACED,
	JITBPF_TOTAL_UNCHECKED,
	JITBPF_TOTAL_REPLACED_SAMPLES,
	JITBPF_TOTAL_TIME_CORRECTED,
	JITBPF_TOTAL_OVER_RATE,
	JITBPF_TOTAL_PUBLISHED = 64, /* and up: loads by enum jitbpf_publisher */
	JITBPF_TOTALS_MAX = 128
};

#define JITBPF_CGROUP_GONE 1u /* flags: the names reported before are no longer valid */

#define JITBPF_CGROUP_PATH_MAX 4096 /* with its NUL */
#define JITBPF_CGROUP_NAME_MAX 256  /* with its NUL */

/*
 * The names of a cgroup. The record comes before or with the first OWNER record of a process in
 * that cgroup; there is none if the cgroup was removed before it was read. strings holds two
 * strings, each with its NUL: the path below the root of the hierarchy ("/" for the root itself),
 * and the name that the container runtime gives the cgroup's container ("" if there is no
 * container, or no known name). The owner of a cgroup chooses its path, so the path may contain any
 * bytes.
 */
struct jitbpf_cgroup {
	struct jitbpf_record h;
	__u64 cgroup; /* as in jitbpf_owner */
	char strings[];
};

/* Whether the functions of a runtime are shown. Enums only grow. */
enum jitbpf_runtime_status {
	JITBPF_RUNTIME_SHOWN = 0,
	JITBPF_RUNTIME_STARTING = 1,	   /* the runtime has no threads yet */
	JITBPF_RUNTIME_OTHER_VERSION = 2,  /* of a version that is not known */
	JITBPF_RUNTIME_NOT_AS_KNOWN = 3,   /* the structures are not those of the version */
	JITBPF_RUNTIME_NO_SYMBOLS = 4,	   /* the way to the structures is not known */
	JITBPF_RUNTIME_MEMORY_REFUSED = 5, /* memory or files of the process could not be read */
	JITBPF_RUNTIME_ENDED = 6,	   /* the process has ended before they were read */
};

/*
 * What is known of a runtime of a process since the last exec of the process. A later record of the
 * same process and runtime replaces an earlier one.
 */
struct jitbpf_runtime {
	struct jitbpf_record h;
	__u32 pid;
	__u32 status; /* enum jitbpf_runtime_status */
	__u64 start_ns;
	__u16 version[4]; /* as read from memory: its first parts; all 0: not known */
	char name[16];	  /* of the engine (engines/engines.h), NUL-padded */
};

/*
 * A function of a runtime. The record comes before the first sample with it. Functions of all
 * processes share one sequence of numbers, from 1 on; equal functions of several processes can have
 * one number. A name "" stands for all functions of that runtime that could not be read.
 */
struct jitbpf_runtime_function {
	struct jitbpf_record h;
	__u64 number;	  /* below 2^56 */
	char runtime[16]; /* name of the engine, NUL-padded */
	__u32 pid;	  /* of a process with the function, whose owner pays for it */
	__u32 first_line; /* 0: not known */
	__u32 name_bytes; /* with its NUL */
	__u32 file_bytes; /* with its NUL; "": none, as for functions of the runtime itself */
	char strings[];	  /* name, file: UTF-8, chosen by the process */
};

#define JITBPF_THROTTLE_END 1u /* flags: sampling on this CPU continues */

struct jitbpf_throttle {
	struct jitbpf_record h;
	__u32 cpu;
	__u32 reserved;
};

/*
 * Number of samples of a process and event that were lost because a ring was full. Sent after the
 * exit of the process, or at the end of the run; readers add records up. pid 0: processes that had
 * no counter of their own.
 */
struct jitbpf_lost_samples {
	struct jitbpf_record h;
	__u32 pid;
	__u16 event;
	__u16 reserved;
	__u64 start_ns;
	__u64 count;
};

/*
 * Values by enum jitbpf_counter (uapi/loss.h), from the end of a run. The source, intake and the
 * recorder each write one record; readers add them up, modulo 2^64.
 */
struct jitbpf_counters {
	struct jitbpf_record h;
	__u64 values[];
};

/*
 * The samples of each event that the BPF program has taken, from the end of a run. That of event 0
 * is 0, since JITBPF_COUNT_SAMPLES_TAKEN has it. Readers add records up, modulo 2^64. A run with
 * one event has no such record.
 */
struct jitbpf_event_counts {
	struct jitbpf_record h;
	__u64 taken[JITBPF_EVENTS_MAX];
};

_Static_assert(sizeof(struct jitbpf_record) == 16, "ABI");
_Static_assert(sizeof(struct jitbpf_sample) == 64, "ABI");
_Static_assert(sizeof(struct jitbpf_user_regs) == 144, "ABI");
_Static_assert(sizeof(struct jitbpf_code_bytes) == 72, "ABI");
_Static_assert(sizeof(struct jitbpf_stack_copy) == 56, "ABI");
_Static_assert(sizeof(struct jitbpf_jit) == 40, "ABI");
_Static_assert(sizeof(struct jitbpf_code) == 56, "ABI");
_Static_assert(sizeof(struct jitbpf_journal) == 72, "ABI");
_Static_assert(sizeof(struct jitbpf_mapping) == 112, "ABI");
_Static_assert(sizeof(struct jitbpf_build_id) == 64, "ABI");
_Static_assert(sizeof(struct jitbpf_program) == 48, "ABI");
_Static_assert(sizeof(struct jitbpf_comm) == 48, "ABI");
_Static_assert(sizeof(struct jitbpf_task) == 32, "ABI");
_Static_assert(sizeof(struct jitbpf_kernel_symbol) == 32, "ABI");
_Static_assert(sizeof(struct jitbpf_inner_pid) == 32, "ABI");
_Static_assert(sizeof(struct jitbpf_owner) == 48, "ABI");
_Static_assert(sizeof(struct jitbpf_cgroup) == 24, "ABI");
_Static_assert(sizeof(struct jitbpf_jit_counts) == 32, "ABI");
_Static_assert(sizeof(struct jitbpf_throttle) == 24, "ABI");
_Static_assert(sizeof(struct jitbpf_runtime_frames) == 16, "ABI");
_Static_assert(sizeof(struct jitbpf_runtime) == 56, "ABI");
_Static_assert(sizeof(struct jitbpf_runtime_function) == 56, "ABI");
_Static_assert(sizeof(struct jitbpf_lost_samples) == 40, "ABI");
_Static_assert(sizeof(struct jitbpf_event_counts) == 144, "ABI");
_Static_assert(sizeof(struct jitbpf_counters) == 16, "ABI");

#endif
