/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Watches which CPUs are online. The kernel detaches the perf events of a CPU that goes offline,
 * and does not attach them again, so both its return and a new CPU need new events.
 *
 * The list in sysfs is read once a second. Uevents report a CPU that goes offline and returns in
 * that time. In a network namespace without uevents, such a CPU is not noticed.
 */
#ifndef JITBPF_AGENT_KERNEL_EVENTS_ONLINE_CPUS_H
#define JITBPF_AGENT_KERNEL_EVENTS_ONLINE_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/kernel_maps.h"

/* CPUs beyond JITBPF_CPUS_MAX are never in it. */
struct cpu_list {
	uint64_t words[JITBPF_CPUS_MAX / 64];
};

static inline bool cpu_list_has(const struct cpu_list *list, uint32_t cpu)
{
	return cpu < JITBPF_CPUS_MAX && list->words[cpu / 64] >> cpu % 64 & 1;
}

static inline void cpu_list_add(struct cpu_list *list, uint32_t cpu)
{
	if (cpu < JITBPF_CPUS_MAX)
		list->words[cpu / 64] |= 1ull << cpu % 64;
}

/* Parse "0-3,8". Returns false if it is malformed. */
bool cpu_list_parse(const char *text, struct cpu_list *ret);

struct online_cpus {
	int list_fd;	  /* -1: not there, and CPUs are not followed */
	int uevent_fd;	  /* -1: not there */
	uint64_t next_ns; /* when to look again */
};

/* Needs the right to open sysfs and a netlink socket only now. */
void online_cpus_init(struct online_cpus *cpus);
void online_cpus_deinit(struct online_cpus *cpus);

/*
 * Returns true once a second, with the CPUs that are online, and those that went offline since the
 * last time, though they may be online again.
 */
bool online_cpus_look(struct online_cpus *cpus, uint64_t now_ns, struct cpu_list *ret_online,
		      struct cpu_list *ret_left);

#endif
