/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reports the owner of a process: its user and cgroup. */
#ifndef JITBPF_BPF_OWNER_H
#define JITBPF_BPF_OWNER_H

#include "bpf/maps.h"

#include <bpf/bpf_core_read.h>

#include "uapi/record.h"

/* The kernel allows 32. Fewer, since the verifier examines each turn of the loop. */
#define USER_NS_LEVELS_MAX 8

/* Returns the owner of the outermost user namespace below the initial one, or uid. */
static __always_inline __u32 charged_uid(const struct cred *cred, __u32 uid)
{
	struct user_namespace *ns = BPF_CORE_READ(cred, user_ns);
	int level = BPF_CORE_READ(ns, level);

	if (level <= 0)
		return uid;
	if (level > USER_NS_LEVELS_MAX)
		return JITBPF_NESTED_USERS;
	for (__u32 i = 0; i < USER_NS_LEVELS_MAX && level > 1; i++, level--)
		ns = BPF_CORE_READ(ns, parent);
	return BPF_CORE_READ(ns, owner.val);
}

static __always_inline __u64 cgroup_of(struct task_struct *leader)
{
	if (!bpf_core_field_exists(leader->cgroups))
		return 0;
	return BPF_CORE_READ(leader, cgroups, dfl_cgrp, kn, id);
}

static __always_inline __u64 hash_owner(const struct jitbpf_owner *owner)
{
	const __u64 factor = 0x9e3779b97f4a7c15ull;
	__u64 hash = (owner->start_ns ^ owner->pid) * factor;

	hash = (hash ^ hash >> 32 ^ ((__u64)owner->uid << 32 | owner->fs_uid)) * factor;
	hash = (hash ^ hash >> 32 ^ owner->cgroup) * factor;
	hash = (hash ^ hash >> 32 ^ owner->charged_uid) * factor;
	return hash ^ hash >> 32;
}

static __always_inline struct jitbpf_owner owner_of(struct task_struct *leader, __u32 pid,
						    __u64 time_ns)
{
	const struct cred *cred = BPF_CORE_READ(leader, real_cred);
	struct jitbpf_owner owner = {
		.h = {.size_bytes = sizeof(owner), .type = JITBPF_OWNER, .time_ns = time_ns},
		.pid = pid,
		.uid = BPF_CORE_READ(cred, uid.val),
		.fs_uid = BPF_CORE_READ(cred, fsuid.val),
		.start_ns = BPF_CORE_READ(leader, start_boottime),
		.cgroup = cgroup_of(leader),
	};

	owner.charged_uid = charged_uid(cred, owner.uid);
	return owner;
}

/*
 * Reports an owner, unless it equals the last reported owner of the pid. If the ring is full, or an
 * NMI finds its lock taken, a later sample or JIT record reports it.
 */
static __always_inline void tell_known_owner(struct jitbpf_owner *owner)
{
	__u32 slot = owner->pid & (OWNERS_KNOWN - 1);
	__u64 *known = bpf_map_lookup_elem(&owners_known, &slot), hash = hash_owner(owner);

	if (!known || *known == hash)
		return;
	if (!bpf_ringbuf_output(&code_ring, owner, sizeof(*owner), BPF_RB_NO_WAKEUP))
		*known = hash;
}

/* Reports the owner of a process, given by its first thread. */
static __always_inline void tell_owner(struct task_struct *leader, __u32 pid, __u64 time_ns)
{
	struct jitbpf_owner owner = owner_of(leader, pid, time_ns);

	tell_known_owner(&owner);
}

#endif
