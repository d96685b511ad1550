/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads the agent for Java into the JVMs among the profiled processes, by a process for each
 * (jvm_load.h). A JVM is loaded into as soon as it catches SIGQUIT, once. Nothing here waits.
 *
 * Owners have shares of the loaders (jvm_table.h). The first JVM beyond the limits is reported,
 * with JVM_IS_BEYOND_LIMIT.
 *
 * Why JVMs that jitbpf launches are not given JAVA_TOOL_OPTIONS with -agentpath: all children
 * inherit it, each of them prints a line about it, and one that cannot load the agent (in a
 * container or a chroot, or with musl) ends. The price is that code compiled before the loading,
 * which is 0.1 s after the start, has few of its inlined methods. So a command that is a JVM itself
 * gets the agent as an option (agent/launch/java_command.h).
 *
 * Event loop only.
 */
#ifndef JITBPF_AGENT_JVM_JVM_LOADS_H
#define JITBPF_AGENT_JVM_JVM_LOADS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/jvm/jvm_load.h"
#include "agent/jvm/jvm_table.h"
#include "agent/kernel/proc/process_scan.h"
#include "agent/roles/broker.h"
#include "state/process/process_owners.h"

/* After so long, the agent is also loaded into a process that does not catch SIGQUIT. */
#define JVM_START_NS 2000000000ull
/* A process that takes no commands after so long is not tried again. */
#define JVM_GIVE_UP_NS 15000000000ull

/* The result of loading the agent into a JVM. */
struct jvm_report {
	uint32_t pid;
	char comm[16];
	uint64_t age_ns; /* of the process when it had the agent */
	struct jvm_load_reply reply;
};

struct jvm_loads; /* see jvm_loads.c */

/*
 * path: of the installed agent; "": there is none, and the first JVM is reported with
 * JVM_AGENT_IS_MISSING. only_sampled: a JVM waits for its first sample, and is not reported before.
 * broker and owners are borrowed. Returns 0, or a negative errno of opening the agent.
 */
int jvm_loads_create(const struct broker *broker, const struct process_owners *owners,
		     const char *path, bool only_sampled, struct jvm_loads **ret);
void jvm_loads_destroy(struct jvm_loads *loads); /* NULL is allowed */

/* A process has mapped a file, by its name without folder, at time_ns. Returns 0 or -ENOMEM. */
int jvm_loads_see(struct jvm_loads *loads, uint32_t pid, const char *file, uint64_t time_ns);

/* A process was sampled. Returns 0 or -ENOMEM. */
int jvm_loads_sampled(struct jvm_loads *loads, uint32_t pid);

/* The process has ended, or has executed another program, at time_ns. */
void jvm_loads_forget(struct jvm_loads *loads, uint32_t pid, uint64_t time_ns);

/* Start loaders for JVMs that are ready, and take the answers of loaders. Returns 0 or -ENOMEM. */
int jvm_loads_turn(struct jvm_loads *loads);

/* Report each JVM that still waits for its agent: jitbpf ends. Returns 0 or -ENOMEM. */
int jvm_loads_end(struct jvm_loads *loads);

/*
 * Add the pids of the JVMs that have been given the agent since the last call, up to 256. Returns 0
 * or -ENOMEM.
 */
int jvm_loads_take_loaded(struct jvm_loads *loads, process_pids *ret);

/* Returns true if a JVM waits for its start or for its agent. */
bool jvm_loads_are_pending(const struct jvm_loads *loads);

/* Take the next report. Returns false if there is none. */
bool jvm_loads_take(struct jvm_loads *loads, struct jvm_report *ret);

#endif
