/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The owner of each process by pid, from OWNER records. The agent uses it to charge work for a
 * process whose records have not reached the process table yet. A process that has exited keeps its
 * owner for one more round, for records that come late. Single-threaded.
 */
#ifndef JITBPF_STATE_PROCESS_PROCESS_OWNERS_H
#define JITBPF_STATE_PROCESS_PROCESS_OWNERS_H

#include "base/index_map.h"
#include "base/owner_budget.h"
#include "base/vec.h"
#include "uapi/record.h"

/* See struct jitbpf_owner. */
struct process_owner {
	uint32_t uid, charged_uid, fs_uid; /* JITBPF_UNKNOWN_USER: not known */
	uint64_t cgroup;
};

#define PROCESS_OWNER_UNKNOWN                                                                      \
	((struct process_owner){JITBPF_UNKNOWN_USER, JITBPF_UNKNOWN_USER, JITBPF_UNKNOWN_USER, 0})

static inline struct process_owner process_owner_of(const struct jitbpf_owner *record)
{
	return (struct process_owner){
		.uid = record->uid,
		.charged_uid = record->charged_uid,
		.fs_uid = record->fs_uid,
		.cgroup = record->cgroup,
	};
}

/* Returns the key of the owner that budgets charge for a process. */
static inline struct owner_key process_owner_key(const struct process_owner *owner)
{
	return (struct owner_key){.uid = owner->charged_uid, .cgroup = owner->cgroup};
}

struct owned_process {
	uint32_t pid;
	uint32_t exits; /* number of the round of its exit; 0: it lives */
	struct process_owner owner;
};

/* Empty if zero-initialized. */
struct process_owners {
	VEC(struct owned_process) processes;
	VEC(uint32_t) exited; /* pids, in order of their exits */
	struct index_map index;
	uint32_t round;
};

/* Apply a record: OWNER and EXIT; others change nothing. Returns 0 or -ENOMEM. */
int process_owners_take(struct process_owners *owners, const struct jitbpf_record *record);

/* Remove the processes that exited before the previous call. */
void process_owners_end_round(struct process_owners *owners);

/* Returns the owner of a process, or PROCESS_OWNER_UNKNOWN. */
struct process_owner process_owners_find(const struct process_owners *owners, uint32_t pid);

void process_owners_deinit(struct process_owners *owners);

#endif
