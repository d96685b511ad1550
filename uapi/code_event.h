/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events about JIT code, in the same form for all publishers (the shim, a jitdump file). One
 * decoder per publisher makes them; later stages, and recordings, have only these records.
 *
 * Record types JITBPF_CODE_EVENT and JITBPF_CODE_REFUSED of uapi/record.h.
 * Strings and lines come from an untrusted process: every reader checks them.
 * Little-endian, no padding. Enums only grow; unknown parts are skipped and counted.
 */
#ifndef JITBPF_UAPI_CODE_EVENT_H
#define JITBPF_UAPI_CODE_EVENT_H

#include "uapi/record.h"

enum jitbpf_publisher {
	JITBPF_PUBLISHER_SHIM = 0,     /* the JIT API, through jitapi-shim */
	JITBPF_PUBLISHER_JITDUMP = 1,  /* a jit-PID.dump file */
	JITBPF_PUBLISHER_PERF_MAP = 2, /* /tmp/perf-PID.map */
	JITBPF_PUBLISHER_JVMTI = 3,    /* the agent in a Java virtual machine */
	/* nobody: intake has found the code in memory (unwind/code/found_code.h) */
	JITBPF_PUBLISHER_FOUND = 4,
	JITBPF_PUBLISHER_COUNT
};

enum jitbpf_code_event_kind {
	JITBPF_CODE_UNKNOWN = 0, /* of a kind that the publisher's decoder does not know */
	JITBPF_CODE_NOTHING = 1, /* known, but not about code */
	JITBPF_CODE_CLOSE = 2,	 /* the publisher reports its shutdown; its code stays live */
	/*
	 * [address, + code_bytes) holds a method from time_ns on. SHIM: with address 0 and a
	 * method_id, the method has no code yet, and its later regions have its strings.
	 */
	JITBPF_CODE_LOAD = 3,
	/*
	 * The regions of method_id end. With method_id 0, the regions that begin in
	 * [address, + code_bytes) end.
	 */
	JITBPF_CODE_UNLOAD = 4,
	JITBPF_CODE_MOVE = 5, /* the region at old_address continues at address */
	/* method_id is inlined into parent_id in [address, + code_bytes). */
	JITBPF_CODE_INLINE = 6,
	JITBPF_CODE_UPDATE = 7, /* the content of [address, + code_bytes) is replaced */
	JITBPF_CODE_LINES = 8,	/* a line table (and source) for the region at address */
	/*
	 * Made by intake, not by a publisher: the region at address ends at time_ns, because its
	 * memory holds other code. With JITBPF_EVENT_UNCHECKED, the memory may hold other code.
	 * sequence has no meaning. Samples from time_ns up to reported_ns come after this event.
	 */
	JITBPF_CODE_REPLACED = 9,
	/*
	 * JVMTI, not about code: the thread with tid method_id has a name (part NAME) from time_ns
	 * on. An event without a name, or with method_id 0, is ignored.
	 */
	JITBPF_CODE_THREAD = 10,
	JITBPF_CODE_THREAD_END = 11, /* the thread with tid method_id has ended */
	/*
	 * Made by intake, not by a publisher: the regions that begin in [address, + code_bytes)
	 * are forgotten, because another owner needs the memory. Samples of any time do not find
	 * them any more. With address 0, methods without code are forgotten. sequence has no
	 * meaning.
	 */
	JITBPF_CODE_EVICTED = 12,
};

/* jitbpf_record.flags of a CODE_EVENT */
#define JITBPF_EVENT_RECOVERED	    1u /* read from a log of the process; may also be reported live */
#define JITBPF_EVENT_BEFORE_RUN	    2u	/* with RECOVERED: from before the profiler ran */
#define JITBPF_EVENT_LATE	    4u	/* LOAD: the code may have run from since_ns on */
#define JITBPF_EVENT_TIME_CORRECTED 8u	/* the publisher's time was impossible; replaced */
#define JITBPF_EVENT_LINE_STARTS    16u /* line offsets are range starts; else the form is guessed */
#define JITBPF_EVENT_UNCHECKED	    64u	 /* REPLACED: the memory could not be read in time */
#define JITBPF_EVENT_TRUNCATED	    128u /* strings or tables were too large, and are missing */
#define JITBPF_EVENT_SEGMENT	    32u	 /* UPDATE: segment says what the range holds */

/* jitbpf_code_event.segment, with JITBPF_EVENT_SEGMENT */
enum jitbpf_segment {
	JITBPF_SEGMENT_UNKNOWN = 0,
	JITBPF_SEGMENT_CODE = 1,
	JITBPF_SEGMENT_DATA = 2,
	JITBPF_SEGMENT_KEEP = 3, /* the content stays */
	JITBPF_SEGMENT_EOF = 4,	 /* end of file */
	JITBPF_SEGMENT_COUNT
};

#define JITBPF_CODE_EVENT_MAX (10u << 20) /* bytes of one record */

/*
 * One event. Behind the fixed part: parts, each a struct jitbpf_code_part and its
 * bytes, without padding, up to h.size_bytes.
 *
 * The origin of an event is (publisher, engine, sequence): sequence numbers count the
 * events of one engine of a publisher in one process. Event times of an origin ascend only
 * roughly. time_ns <= reported_ns and since_ns <= time_ns.
 */
struct jitbpf_code_event {
	struct jitbpf_record h; /* time_ns: when the event happened */
	__u32 pid;
	/*
	 * The reporting thread; the pid if not known. THREAD: method_id if that thread has just
	 * begun, else 0.
	 */
	__u32 tid;
	__u64 start_ns;	   /* process start, CLOCK_BOOTTIME; 0 if not known */
	__u64 reported_ns; /* when the publisher reported it; the process was alive then */
	__u64 since_ns;	   /* with LATE: the earliest time at which the code may have run */
	/*
	 * SHIM: return address of the engine's call, which identifies its DSO. JITDUMP,
	 * PERF_MAP: number of the file, unique in the process. JVMTI: 0. FOUND:
	 * engine_code_number() of the runtime (engines/engines.h).
	 */
	__u64 engine;
	/*
	 * SHIM, JVMTI: one count per process; JITBPF_JIT_INHERITED is possible. FOUND: it has no
	 * meaning.
	 */
	__u64 sequence;
	__u64 method_id; /* the publisher's; 0: none. THREAD: a tid, in the namespace of samples */
	__u64 parent_id; /* INLINE */
	__u64 address;
	__u64 old_address;    /* MOVE */
	__u64 code_bytes;     /* THREAD: ns after which the name ends; 0: not known yet */
	__u16 publisher;      /* enum jitbpf_publisher */
	__u16 kind;	      /* enum jitbpf_code_event_kind */
	__u32 arch;	      /* 0: native, 1: 32-bit, 2: 64-bit */
	__u32 segment;	      /* enum jitbpf_segment */
	__u32 unknown_fields; /* fields that the publisher's decoder skipped */
	__u8 parts[];
};

enum jitbpf_code_part_type {
	JITBPF_CODE_PART_NAME = 1, /* this and the next three: bytes without NUL */
	JITBPF_CODE_PART_CLASS = 2,
	JITBPF_CODE_PART_SOURCE = 3, /* source file */
	JITBPF_CODE_PART_MODULE = 4,
	JITBPF_CODE_PART_LINES = 5,	    /* struct jitbpf_code_line[] of the source file */
	JITBPF_CODE_PART_SCOPES = 6,	    /* LOAD: a scope table, uapi/scope_table.h */
	JITBPF_CODE_PART_PACKED_SCOPES = 7, /* in recordings only: uapi/packed_recording.h */
};

struct jitbpf_code_part {
	__u32 type; /* enum jitbpf_code_part_type */
	__u32 size_bytes;
};

/* Offsets count from the address of the event. */
struct jitbpf_code_line {
	__u32 offset;
	__u32 line; /* 0: none */
};

/* h.flags of a REFUSED record: the malformed records are of another version of the publisher. */
#define JITBPF_REFUSED_OTHER_VERSION 1u
/* The events over the budget came faster than one process, or owner, may publish for long. */
#define JITBPF_REFUSED_RATE 2u

/* Counts of records of a publisher that were refused, since the last such record. */
struct jitbpf_code_refused {
	struct jitbpf_record h;
	__u32 pid;
	__u16 publisher;
	__u16 reserved;
	__u64 start_ns;	   /* 0 if not known */
	__u64 malformed;   /* could not be decoded */
	__u64 incomplete;  /* a part was missing */
	__u64 over_budget; /* too large, or too many at once, for one process */
	__u64 unreadable;  /* failed attempts to read a log or file */
};

_Static_assert(sizeof(struct jitbpf_code_event) == 120, "ABI");
_Static_assert(sizeof(struct jitbpf_code_part) == 8, "ABI");
_Static_assert(sizeof(struct jitbpf_code_line) == 8, "ABI");
_Static_assert(sizeof(struct jitbpf_code_refused) == 64, "ABI");

#endif
