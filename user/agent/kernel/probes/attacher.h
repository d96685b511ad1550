/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registers probes and opens perf events in attacher processes (agent/roles/role.h), so that the
 * recorder needs no capability for it and never waits for it. Registering a uprobe waits for the
 * memory maps of all processes that map the file, which one of them can hold for long.
 *
 * An attacher process keeps what it has attached until it is removed or the run ends. While one
 * does not answer, another one gets further requests. Event loop only.
 */
#ifndef JITBPF_AGENT_KERNEL_PROBES_ATTACHER_H
#define JITBPF_AGENT_KERNEL_PROBES_ATTACHER_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/kernel/bpf/uprobe.h"
#include "agent/roles/broker.h"
#include "agent/roles/fd_message.h"

#define ATTACHERS_MAX 4 /* processes, including those that do not answer */

struct attacher; /* see attacher.c */

/* The events of a CPU (cpu_events.h), and a ring for its samples. */
struct attach_cpu {
	uint32_t cpu, freq_hz;
	bool hardware; /* cycles; else the CPU clock */
	uint32_t ring_bytes;
};

/* The descriptors of an answered attach_cpu, in this order. */
enum { ATTACHED_SAMPLE, ATTACHED_SIDEBAND, ATTACHED_RING, ATTACHED_FDS };

struct attach_answer {
	uint32_t id; /* as returned with the request */
	/*
	 * 0, or a negative errno. -EPIPE can follow an answer of 0: the process that kept the
	 * attachment has died.
	 */
	int err;
	uint64_t attached_ns;	/* CLOCK_MONOTONIC: later hits are reported */
	struct message_fds fds; /* owned by the caller */
};

/*
 * All are borrowed: the descriptors of the link of find_lock_holders(), or -1, and of the kernel's
 * types (program_types.h), -1 if no file is to be examined. Starts no process yet. Returns 0 or
 * -ENOMEM.
 */
int attacher_create(const struct broker *broker, int gate_link, int types_fd,
		    struct attacher **ret);
void attacher_destroy(struct attacher *attacher); /* NULL is allowed */

/*
 * Request a probe, or the events of a CPU. checks_file: a file whose reading may wait for a process
 * (file_system.h) is refused with -EPERM in the answer. Returns 0 with *ret_id set, or a negative
 * errno: -EBUSY if no attacher process answers.
 */
int attacher_add_probe(struct attacher *attacher, const struct uprobe_target *target,
		       bool checks_file, uint32_t *ret_id);
int attacher_add_cpu(struct attacher *attacher, const struct attach_cpu *cpu, uint32_t *ret_id);

/*
 * Hand over a uprobe, so that it is removed at the end of the run as the others are. The caller
 * closes its own descriptors. Returns 0 or a negative errno.
 */
int attacher_keep(struct attacher *attacher, const struct uprobe *uprobe);

/* Remove an attachment, or drop a request. No answer follows. */
void attacher_remove(struct attacher *attacher, uint32_t id);

/*
 * Returns true if a request waits until no process holds the lock of its memory map
 * (lock_holders.h).
 */
bool attacher_is_deferred(const struct attacher *attacher, uint32_t id);

/* A process that held the lock of its memory map when a probe was to be registered. */
struct attach_holder {
	uint32_t pid; /* 0: not visible in jitbpf's pid namespace */
	uint32_t uid;
};

struct attach_deferrals {
	struct attach_holder last;
	uint64_t count;	     /* number of probes that waited */
	uint64_t waiting;    /* number of probes that wait now */
	uint64_t longest_ns; /* longest wait of a probe, also of those that wait now */
};

struct attach_deferrals attacher_deferrals(const struct attacher *attacher);

/*
 * Take the next process that defers a probe. Each is returned once, and at most ATTACH_HOLDERS_MAX
 * in a run. Returns false if there is none.
 */
#define ATTACH_HOLDERS_MAX 8
bool attacher_take_holder(struct attacher *attacher, struct attach_holder *ret);

/* Take the next answer, without waiting. Returns false if there is none. */
bool attacher_take(struct attacher *attacher, struct attach_answer *ret);

#endif
