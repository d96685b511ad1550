/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What each record begins with (uapi/record.h). */
#ifndef JITBPF_UAPI_RECORD_HEAD_H
#define JITBPF_UAPI_RECORD_HEAD_H

#include <linux/types.h>

#define JITBPF_COMM_MAX 16

/*
 * A sample belongs to one of these events of its run. Event 0 is CPU time; the description of the
 * run has the others.
 */
#define JITBPF_EVENTS_MAX 16

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

_Static_assert(sizeof(struct jitbpf_record) == 16, "ABI");

#endif
