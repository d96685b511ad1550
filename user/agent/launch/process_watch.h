/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Watches processes that are not our children, to detect when the last one has ended. */
#ifndef JITBPF_AGENT_LAUNCH_PROCESS_WATCH_H
#define JITBPF_AGENT_LAUNCH_PROCESS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* Zero-initialized is empty. */
struct process_watch {
	VEC(int) pidfds; /* one per live process */
	bool any;	 /* a process has been added */
};

/* Returns 0 or a negative errno (-ESRCH: no such process). */
int process_watch_add(struct process_watch *watch, uint32_t pid);

/* Returns true if all processes have ended; false if none was added. */
bool process_watch_ended(struct process_watch *watch);

void process_watch_deinit(struct process_watch *watch);

#endif
