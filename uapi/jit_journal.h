/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A journal: a log of the code events of one process, for a reader that attaches late or loses
 * records. The shim writes its JIT API events to a memfd named JITBPF_JOURNAL_NAME. The agent for
 * Java writes its events to a second memfd, JITBPF_JOURNAL_JVM_NAME. Below, "the shim" stands for
 * both.
 *
 * Contents: a page for the header, then entries from data_offset up to used_bytes, each
 * 8-byte aligned, by ascending sequence number. Replaying the entries in that order gives
 * the live code. An entry is valid if its commit word is JITBPF_JOURNAL_COMMITTED. A
 * reader skips other entries by their size; the process was killed while it wrote them.
 *
 * Compaction: as the log grows, the shim drops entries that describe no live code. The others keep
 * their order and sequence numbers. If an entry describes dead code, a later entry ends that code.
 * Each version of the shim decides which entries it drops. A reader depends on these rules only.
 *
 * Reading: generation is odd while a compaction moves entries, and has changed after it.
 * A reader therefore reads generation before and after the entries. The writer is not
 * trusted: the only guarantee is the seal against shrinking the file.
 *
 * Forks: a child inherits the mapping and does not write to it. Its first event begins a journal of
 * its own, in private memory at the address that the inherited header names: a child may be
 * forbidden to create a memfd. A reader takes the events before the fork from the ancestor's
 * journal. That journal may lack code that is still live in the child, but has ended in the
 * ancestor since the fork.
 *
 * A journal in private memory has the same layout. Its pid is 0, and it is lost when the process
 * ends. A fork copies it, so a process whose parent has one has a copy of it until its own first
 * event. That event replaces the copy, and the events before the fork are then lost.
 */
#ifndef JITBPF_UAPI_JIT_JOURNAL_H
#define JITBPF_UAPI_JIT_JOURNAL_H

#include "uapi/jit_record.h"

#define JITBPF_JOURNAL_NAME	 "jitbpf-journal" /* "/memfd:jitbpf-journal (deleted)" in maps */
#define JITBPF_JOURNAL_JVM_NAME	 "jitbpf-journal-jvm" /* of the agent in a Java virtual machine */
#define JITBPF_JOURNAL_MAGIC	 "JITBPFJ\n"
#define JITBPF_JOURNAL_VERSION	 2
#define JITBPF_JOURNAL_COMMITTED 0x434f4d54u
/* The default capacity, and the largest one ($JITBPF_JOURNAL_MB). */
#define JITBPF_JOURNAL_BYTES	    (256u << 20)
#define JITBPF_JOURNAL_BYTES_MAX    (1u << 30)
#define JITBPF_JOURNAL_FORKED_BYTES (64u << 20) /* largest capacity in private memory */
#define JITBPF_JOURNAL_ENTRY_MAX    (4u << 20)	/* bytes of one entry; readers accept no more */
#define JITBPF_JOURNAL_TICK_NS	    10000000u	/* longest period of CLOCK_MONOTONIC_COARSE */
#define JITBPF_JOURNAL_LOST_PID	    0xffffffffu /* inherited_pid: the parent's journal is lost */

/*
 * Of entries with a sequence number below `before`, the code that overlaps [start, end) may have
 * ended by an event that has no entry. A compaction drops these entries and makes the range empty.
 */
struct jitbpf_journal_unsure {
	__u64 before; /* 0: no such event; start and end have no meaning */
	__u64 start, end;
};

struct jitbpf_journal_header {
	char magic[8];
	__u32 version;
	__u32 data_offset;   /* of the first entry */
	__u64 capacity;	     /* of the whole file */
	__u64 used_bytes;    /* offset of the next entry; only a compaction decreases it */
	__u64 generation;    /* odd: a compaction moves entries */
	__u64 next_sequence; /* of the process: the number of its next event */
	/*
	 * Number of events that the journal lacks: it had no room for them, or they came during
	 * another append. An event is also counted if only its header had room. Its entry is the
	 * header alone, flagged JITBPF_JIT_TRUNCATED, so that a load still ends the code that it
	 * overwrites. A load that only lacks its scope table has the flag and is not counted.
	 */
	__u64 left_out;
	__u64 left_out_last; /* highest sequence number of these events */
	struct jitbpf_journal_unsure unsure;
	/* CLOCK_MONOTONIC when this journal was made; up to JITBPF_JOURNAL_TICK_NS earlier if
	 * forked */
	__u64 epoch_ns;
	__u32 pid;		  /* of the writer, as it sees itself; 0: in private memory */
	__u32 inherited_pid;	  /* of the parent whose journal was inherited; 0: none */
	__u64 inherited_sequence; /* parent's entries from this number on: after the fork */
	__u64 compactions;
	__u64 forked_address; /* of the journals of forked children, in their private memory; or 0
			       */
	__u64 forked_bytes;   /* capacity of each of them */
};

struct jitbpf_journal_entry {
	__u32 size_bytes; /* of the entry with this head and padding to 8 bytes */
	__u32 commit;
	/*
	 * The event as one part. header.size_bytes excludes the padding, and may exceed
	 * JITBPF_JIT_PART_MAX.
	 */
	struct jitbpf_jit_header header;
};

/*
 * Returns nonzero if the entry of an event does not say whether its code, its method without code
 * (address 0), or the name of its thread still exists. The range decides, and for inlined methods,
 * whose parents may be in the range, the number alone.
 */
static inline int jitbpf_journal_is_unsure(const struct jitbpf_journal_unsure *unsure,
					   const struct jitbpf_jit_header *event)
{
	if (event->sequence >= unsure->before || unsure->start >= unsure->end)
		return 0;
	if (event->event == JIT_EVENT_INLINE_LOAD)
		return 1;
	if (!jit_event_is_load(event->event) && event->event != JIT_EVENT_JVM_THREAD)
		return 0;
	if (!event->address)
		return !unsure->start;
	return event->address < unsure->end && event->address + event->code_bytes > unsure->start;
}

_Static_assert(sizeof(struct jitbpf_journal_unsure) == 24, "ABI");
_Static_assert(sizeof(struct jitbpf_journal_header) == 136, "ABI");
_Static_assert(sizeof(struct jitbpf_journal_entry) == 80, "ABI");

#endif
