/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A publisher: one medium through which processes report their JIT code, such as the shim's probe
 * with its journals. The live source drives every publisher through one table of operations, on the
 * event loop. A publisher keeps its own state and emits records (uapi/record.h).
 *
 * Order of calls: create; scanned() and see() for the start-up scan; late() until it returns 0;
 * then see() and round() until the end; count(); destroy().
 */
#ifndef JITBPF_AGENT_PUBLISHER_PUBLISHER_H
#define JITBPF_AGENT_PUBLISHER_PUBLISHER_H

#include <stdint.h>

#include "agent/files/file_store.h"
#include "decode/text/proc_maps.h"
#include "pipeline/source.h"
#include "uapi/loss.h"

struct attacher;
struct broker;
struct jitbpf_bpf;
struct jvm_loads;
struct patience;
struct process_owners;
struct probe_trial;

/* Objects of the live source that a publisher borrows; they outlive the publisher. */
struct publisher_host {
	struct jitbpf_bpf *bpf; /* loaded */
	struct file_store *files;
	struct attacher *attacher;
	struct probe_trial *trial;	     /* of the installed shim; started */
	const struct process_owners *owners; /* of the processes that are profiled */
	uint64_t came_ns;	   /* start of the run, before any publisher was created */
	struct patience *patience; /* for limits of waiting; NULL: CLOCK_MONOTONIC */
	const struct broker *broker;
	bool load_jvm_agents;		  /* into the JVMs that are profiled */
	bool sampled_jvms_only;		  /* of these, only into those that are sampled */
	struct jvm_loads **ret_jvm_loads; /* set to their state, or NULL, by that publisher */
};

enum { PUBLISHER_KEEP = 0, PUBLISHER_DROP = 1 };

/* self is the result of create(). A negative errno of any function ends the run. */
struct publisher_ops {
	/* Returns 0, or a negative errno with *ret_what set to the step that failed. */
	int (*create)(const struct publisher_host *host, void **ret, const char **ret_what);
	void (*destroy)(void *self);

	/* A mapping, executable or not, of a process older than came_ns. Returns 0 or -errno. */
	int (*scanned)(void *self, uint32_t pid, const struct proc_map *map);

	/*
	 * Emit one slice (bounded bytes) of the code that was published before came_ns. The first
	 * call follows the scan. Returns 1 if there is more, 0 at the end, or a negative errno.
	 */
	int (*late)(void *self, record_taker_fn take, void *take_context);

	/*
	 * See a record of the source (MAPPING, FORK, COMM, EXIT, JIT) about a profiled process
	 * before it is emitted. Within a drain, records are not in order of time. Returns
	 * PUBLISHER_KEEP, PUBLISHER_DROP (the record repeats another one), or a negative errno.
	 */
	int (*see)(void *self, const struct jitbpf_record *record);

	/* A process was sampled since the last round(). May be NULL. Returns 0 or -errno. */
	int (*sampled)(void *self, uint32_t pid);

	/*
	 * Called at the end of a drain that began at round_ns, when all rings have been read. Emit
	 * the code that was published until then, except through rings. Returns 0; 1 if a part
	 * could not be read yet: then the round stays open, and this is called again with the same
	 * round_ns; or a negative errno. A publisher limits the time for which it returns 1, since
	 * samples wait for it. full: the round has too many records and must end; code that cannot
	 * be read now is lost, and the publisher counts it.
	 */
	int (*round)(void *self, uint64_t round_ns, bool full, record_taker_fn take,
		     void *take_context);

	/* Add the publisher's counts to counters. */
	void (*count)(const void *self, uint64_t counters[JITBPF_COUNTER_MAX]);
};

extern const struct publisher_ops publisher_shim, publisher_jitdump, publisher_jvm_agents;

#endif
