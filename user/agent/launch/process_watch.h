/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Watches processes that are not our children, to see when the last has ended. */
#ifndef JITBPF_AGENT_LAUNCH_PROCESS_WATCH_H
#define JITBPF_AGENT_LAUNCH_PROCESS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* Zero-initialized watches none. */
struct process_watch {
	VEC(int) pidfds; /* of those that live */
	bool any;	 /* there ever was one */
};

/* Returns 0 or negative errno (-ESRCH: there is none). */
int process_watch_add(struct process_watch *watch, uint32_t pid);

/* Have all ended? False where none was added. */
bool process_watch_ended(struct process_watch *watch);

void process_watch_deinit(struct process_watch *watch);

#endif
