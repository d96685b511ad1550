/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Earlier names (comm), programs (exec) and cgroups of a process. A sample that is handled late
 * needs the values of its own time: a child of a shell changes name and program within
 * milliseconds.
 */
#ifndef JITBPF_STATE_PROCESS_PROCESS_PAST_H
#define JITBPF_STATE_PROCESS_PROCESS_PAST_H

#include <stdint.h>

#include "base/vec.h"

#define PROCESS_PAST_MAX 64 /* changes; older ones are dropped */

/* In force until until_ns, from the until_ns of the change before. */
struct process_was {
	uint64_t until_ns;
	uint64_t program_ns; /* time of the exec, as in struct process */
	uint64_t cgroup;     /* as in struct process_owner */
	uint32_t comm;	     /* string number */
};

/* Empty if zero-initialized. */
struct process_past {
	VEC(struct process_was) changes; /* by until_ns, ascending */
};

/*
 * Add a change. If it is older than the last one, it gets the time of that one. Returns 0 or
 * -ENOMEM.
 */
int process_past_add(struct process_past *past, struct process_was was);

/*
 * Returns name, program and cgroup at time_ns, or NULL if they are the present ones. Valid until
 * the next change.
 */
const struct process_was *process_past_at(const struct process_past *past, uint64_t time_ns);

/* Drop the changes up to time_ns. */
void process_past_forget(struct process_past *past, uint64_t time_ns);
void process_past_deinit(struct process_past *past);

#endif
