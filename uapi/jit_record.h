/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The record that jitapi-shim hands to its probe: one JIT API event, flat and
 * self-contained, so that BPF copies bytes and knows nothing of the API.
 *
 * A record is a header and then fields, each {type, size, bytes}. An event
 * whose fields do not fit into JITBPF_JIT_PART_MAX goes as several parts: each
 * part repeats the header (with its own size_bytes and part), and the slices
 * behind the headers, put together in order, are the field stream.
 *
 * Written by an untrusted process: every reader checks every byte.
 * Little-endian, no padding. Enums only grow; unknown fields are skipped.
 */
#ifndef JITBPF_UAPI_JIT_RECORD_H
#define JITBPF_UAPI_JIT_RECORD_H

#include <linux/types.h>

#define JITBPF_JIT_VERSION  1
#define JITBPF_JIT_PART_MAX 4096 /* bytes of one part, header included */

/* jitbpf_jit_header.flags */
#define JITBPF_JIT_TRUNCATED 1u /* a string or table was longer than the shim carries */

/* The JIT API's numbers of its events. */
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
};

struct jitbpf_jit_header {
	__u32 size_bytes; /* of this part, header included */
	__u16 version;	  /* JITBPF_JIT_VERSION */
	__u16 event;	  /* enum jit_event_kind */
	__u64 sequence;	  /* one per event, per process, from 0 */
	__u64 time_ns;	  /* CLOCK_MONOTONIC when NotifyEvent was entered */
	__u16 part;	  /* this part, from 0 */
	__u16 part_count; /* at least 1 */
	__u32 tid;	  /* as the process itself sees it */
	__u64 caller;	  /* return address of NotifyEvent */
	__u32 method_id;
	__u32 parent_id;
	__u64 address;	  /* of the code; 0 where the event has none */
	__u64 code_bytes; /* length of the code */
	__u32 flags;
	__u32 reserved;
};

enum jitbpf_jit_field_type {
	JITBPF_JIT_NAME = 1,	/* bytes without NUL */
	JITBPF_JIT_CLASS = 2,	/* bytes without NUL */
	JITBPF_JIT_SOURCE = 3,	/* source file; bytes without NUL */
	JITBPF_JIT_MODULE = 4,	/* bytes without NUL */
	JITBPF_JIT_LINES = 5,	/* struct jitbpf_jit_line[] as the engine gave them */
	JITBPF_JIT_ARCH = 6,	/* __u32: 0 native, 1 = 32-bit, 2 = 64-bit */
	JITBPF_JIT_SEGMENT = 7, /* __u32: 0 unknown, 1 code, 2 data, 3 keep, 4 end of file */
	JITBPF_JIT_FORMAT = 8,	/* of a segment of data; bytes without NUL */
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
