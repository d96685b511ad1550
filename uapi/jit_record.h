/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The record that the shim or the agent for Java passes to its probe: one event. It is flat and
 * self-contained, so that BPF copies bytes without knowing the API.
 *
 * A record is a header, followed by fields, each {type, size, bytes}. If the fields do not
 * fit into JITBPF_JIT_PART_MAX, the record is split into parts. Each part repeats the
 * header, with its own size_bytes and part. The slices behind the headers, joined in
 * order, are the fields.
 *
 * The writer is not trusted, so readers check every byte. Little-endian, no padding.
 * Enums only grow; readers skip unknown fields.
 */
#ifndef JITBPF_UAPI_JIT_RECORD_H
#define JITBPF_UAPI_JIT_RECORD_H

#include <linux/types.h>

#define JITBPF_JIT_VERSION  1
#define JITBPF_JIT_PART_MAX 4096 /* bytes of one part with its header */

/* jitbpf_jit_header.flags */
#define JITBPF_JIT_TRUNCATED 1u /* the shim has cut or dropped strings or tables */

/* Bytes of the name of a JVM_THREAD; readers cut longer ones. */
#define JITBPF_THREAD_NAME_MAX 255

/*
 * Event numbers of the JIT API. Numbers from JIT_EVENT_JVM_LOAD on are our own. The agent for Java
 * sends them, with its own sequence numbers and journal.
 */
enum jit_event_kind {
	JIT_EVENT_SHUTDOWN = 2,
	JIT_EVENT_LOAD = 13,
	JIT_EVENT_UNLOAD = 14,
	JIT_EVENT_UPDATE = 15,
	JIT_EVENT_INLINE_LOAD = 16,
	JIT_EVENT_UPDATE_V2 = 17,
	JIT_EVENT_ENTER_NIDS = 19,
	JIT_EVENT_LEAVE_NIDS = 20,
	JIT_EVENT_LOAD_V2 = 21,
	JIT_EVENT_LOAD_V3 = 22,
	/*
	 * Sent after the code was installed. The code may have run at any time since other code in
	 * its memory was freed.
	 */
	JIT_EVENT_JVM_LOAD = 256,
	JIT_EVENT_JVM_UNLOAD = 257, /* of the code at address */
	/*
	 * The thread whose tid is method_id has a name (JITBPF_JIT_NAME) from now on. Like tid,
	 * method_id is of the PID namespace of the process. The two may differ.
	 */
	JIT_EVENT_JVM_THREAD = 258,
	JIT_EVENT_JVM_THREAD_END = 259, /* the thread whose tid is method_id has ended */
	JIT_EVENT_UNKNOWN = 0xffff,	/* an event of the JIT API with a number above 255 */
};

/* Returns nonzero if the agent in a Java virtual machine sends events of that kind. */
static inline int jit_event_is_jvm(__u32 event)
{
	return event >= JIT_EVENT_JVM_LOAD && event < JIT_EVENT_UNKNOWN;
}

/* Returns nonzero if an event of that kind is a load. */
static inline int jit_event_is_load(__u16 event)
{
	return event == JIT_EVENT_LOAD || event == JIT_EVENT_LOAD_V2 ||
	       event == JIT_EVENT_LOAD_V3 || event == JIT_EVENT_JVM_LOAD;
}

struct jitbpf_jit_header {
	__u32 size_bytes; /* of this part with the header */
	__u16 version;	  /* JITBPF_JIT_VERSION */
	__u16 event;	  /* enum jit_event_kind */
	__u64 sequence;	  /* one per event, from 0, per process and library (shim, agent) */
	/*
	 * CLOCK_MONOTONIC at the entry of NotifyEvent or of the callback. If no profiler was
	 * attached then, CLOCK_MONOTONIC_COARSE, which is up to 10 ms behind.
	 */
	__u64 time_ns;
	__u16 part;	  /* index of this part */
	__u16 part_count; /* at least 1 */
	__u32 tid;	  /* JVM_THREAD*: in the PID namespace of the process; others: 0 */
	__u64 caller;	  /* return address of NotifyEvent; 0: from the agent */
	__u32 method_id;
	__u32 parent_id;
	__u64 address;	  /* of the code. 0: none; a LOAD then registers a method without code */
	__u64 code_bytes; /* size of the code */
	__u32 flags;
	__u32 reserved;
};

enum jitbpf_jit_field_type {
	JITBPF_JIT_NAME = 1,	/* bytes without NUL */
	JITBPF_JIT_CLASS = 2,	/* bytes without NUL */
	JITBPF_JIT_SOURCE = 3,	/* source file; bytes without NUL */
	JITBPF_JIT_MODULE = 4,	/* bytes without NUL */
	JITBPF_JIT_LINES = 5,	/* struct jitbpf_jit_line[], as reported */
	JITBPF_JIT_ARCH = 6,	/* __u32: 0 native, 1 = 32-bit, 2 = 64-bit */
	JITBPF_JIT_SEGMENT = 7, /* __u32: 0 unknown, 1 code, 2 data, 3 keep, 4 end of file */
	JITBPF_JIT_FORMAT = 8,	/* of a data segment; bytes without NUL */
	JITBPF_JIT_SCOPES = 9,	/* of a load: a scope table, uapi/scope_table.h */
};

struct jitbpf_jit_field {
	__u32 type; /* enum jitbpf_jit_field_type */
	__u32 size_bytes;
};

struct jitbpf_jit_line {
	__u32 offset;
	__u32 line;
};

_Static_assert(sizeof(struct jitbpf_jit_header) == 72, "ABI");
_Static_assert(sizeof(struct jitbpf_jit_field) == 8, "ABI");
_Static_assert(sizeof(struct jitbpf_jit_line) == 8, "ABI");

#endif
