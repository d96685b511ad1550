/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The shim's journal: the JIT API events of one process, kept by the process
 * itself in a memfd named JITBPF_JOURNAL_NAME, for a reader that comes late or
 * has lost records. It is a log: entries stand in the order of their sequence
 * numbers, and applying them in that order gives what is live. When it grows, the shim
 * compacts it: entries that say nothing of what is live any more are dropped (but
 * some may be left that do not), the others keep their order and their numbers.
 *
 * The header page, then entries, each 8-byte aligned, from data_offset up to
 * used_bytes. An entry counts when its commit word is JITBPF_JOURNAL_COMMITTED; one that is
 * not (the process was killed while it wrote) is passed over by its size.
 *
 * A reader takes generation, reads, and takes it again: it is odd while a
 * compaction moves entries, and differs when one has. The file's size is sealed
 * against shrinking; nothing else in it can be believed.
 *
 * A forked child inherits the mapping and must not write to it: it makes a
 * journal of its own with its first event. Whoever reads it takes what the
 * ancestor wrote before the fork from the inherited one. What has died in the
 * ancestor since may be gone from it: of that nothing is known in the child.
 */
#ifndef JITBPF_UAPI_JIT_JOURNAL_H
#define JITBPF_UAPI_JIT_JOURNAL_H

#include "uapi/jit_record.h"

#define JITBPF_JOURNAL_NAME	 "jitbpf-journal" /* "/memfd:jitbpf-journal (deleted)" in maps */
#define JITBPF_JOURNAL_MAGIC	 "JITBPFJ\n"
#define JITBPF_JOURNAL_VERSION	 1
#define JITBPF_JOURNAL_COMMITTED 0x434f4d54u
#define JITBPF_JOURNAL_BYTES	 (64u << 20) /* default capacity; $JITBPF_JOURNAL_MB */

struct jitbpf_journal_header {
	char magic[8];
	__u32 version;
	__u32 data_offset;   /* of the first entry */
	__u64 capacity;	     /* of the whole file */
	__u64 used_bytes;    /* where the next entry goes; grows only, but for a compaction */
	__u64 generation;    /* see above */
	__u64 next_sequence; /* of the process: all below have been numbered */
	/*
	 * Events that found no room, or came inside another's append. Where there is
	 * room for no more, an event's header is there, marked JITBPF_JIT_TRUNCATED:
	 * what stood at its address is over.
	 */
	__u64 left_out;
	__u64 left_out_last;	  /* the sequence number of the last of them */
	__u64 epoch_ns;		  /* CLOCK_MONOTONIC when this journal was made */
	__u32 pid;		  /* of the writer, as it sees itself */
	__u32 inherited_pid;	  /* of the parent whose journal was inherited; 0: none */
	__u64 inherited_sequence; /* of that one: entries from here on are not ours */
	__u64 compactions;
};

struct jitbpf_journal_entry {
	__u32 size_bytes; /* of the entry, this head and padding to 8 bytes included */
	__u32 commit;
	/*
	 * The whole event as one part: header.size_bytes counts it without
	 * padding, and may be greater than JITBPF_JIT_PART_MAX here.
	 */
	struct jitbpf_jit_header header;
};

_Static_assert(sizeof(struct jitbpf_journal_header) == 96, "ABI");
_Static_assert(sizeof(struct jitbpf_journal_entry) == 80, "ABI");

#endif
