/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A process whose memory map is locked, as find_lock_holders() (bpf/attach.bpf.c) reports it. */
#ifndef JITBPF_UAPI_LOCK_HOLDER_H
#define JITBPF_UAPI_LOCK_HOLDER_H

#include <linux/types.h>

struct jitbpf_lock_holder {
	__u32 pid;	/* in jitbpf's pid namespace; 0: not visible there */
	__u32 uid;	/* real user ID */
	__u64 start_ns; /* start of the process, CLOCK_BOOTTIME */
	__u64 owner;	/* the lock's owner word, which only identifies the thread */
};

_Static_assert(sizeof(struct jitbpf_lock_holder) == 24, "no padding");

#endif
