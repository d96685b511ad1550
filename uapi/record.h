/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The records that a source passes to the pipeline. Each begins with struct jitbpf_record. The
 * BPF programs write SAMPLE, JIT, CODE, INNER_PID, OWNER, PROGRAM and EXIT records into the rings;
 * the agent makes the others, mostly from the perf side-band and the start-up scan. A recording
 * holds the same bytes.
 *
 * Little-endian. Times are CLOCK_MONOTONIC in ns unless stated otherwise. Pids and tids are
 * those of jitbpf's own pid namespace. Enums only grow. The records that are not in the included
 * headers are of mappings, processes and counts.
 */
#ifndef JITBPF_UAPI_RECORD_H
#define JITBPF_UAPI_RECORD_H

#include <linux/types.h>

#include "uapi/kernel_maps.h"
#include "uapi/record_code.h"
#include "uapi/record_head.h"
#include "uapi/record_sample.h"

#define JITBPF_BUILD_ID_MAX 20

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
	JITBPF_TOTAL_EVICTED,
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
_Static_assert(sizeof(struct jitbpf_runtime) == 56, "ABI");
_Static_assert(sizeof(struct jitbpf_runtime_function) == 56, "ABI");
_Static_assert(sizeof(struct jitbpf_lost_samples) == 40, "ABI");
_Static_assert(sizeof(struct jitbpf_event_counts) == 144, "ABI");
_Static_assert(sizeof(struct jitbpf_counters) == 16, "ABI");

#endif
