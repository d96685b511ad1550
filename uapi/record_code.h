/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The records about JIT code: JIT, CODE, KEPT_CODE and JOURNAL (uapi/record.h). */
#ifndef JITBPF_UAPI_RECORD_CODE_H
#define JITBPF_UAPI_RECORD_CODE_H

#include <linux/types.h>

#include "uapi/record_head.h"

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

_Static_assert(sizeof(struct jitbpf_jit) == 40, "ABI");
_Static_assert(sizeof(struct jitbpf_code) == 56, "ABI");
_Static_assert(sizeof(struct jitbpf_journal) == 72, "ABI");

#endif
