/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies of the shim other than the installed one, in containers or left over from an update. A
 * probe belongs to an inode, so each copy needs a probe of its own. Copies are found by the
 * mappings of processes, in any mount namespace, deleted or not.
 *
 * Any process can map a file of that name. A file is accepted as a copy only if it has the probe
 * and the shim's code at the probe's offset, and if its file system cannot wait for a process
 * (agent/kernel/probes/file_system.h). Other files are refused and counted.
 */
#ifndef JITBPF_AGENT_PUBLISHER_SHIM_COPIES_H
#define JITBPF_AGENT_PUBLISHER_SHIM_COPIES_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/files/file_store.h"
#include "agent/kernel/probes/attacher.h"
#include "agent/publisher/probe_site.h"
#include "agent/publisher/shim_waiting.h"
#include "base/owner_budget.h"
#include "base/vec.h"
#include "state/process/process_owners.h"
#include "uapi/record.h"

#define SHIM_COPIES_MAX	 64   /* attached copies, shared by owners; attaching is slow */
#define SHIM_REFUSED_MAX 1024 /* refused files that are remembered; others are examined again */

/* Returns true for the shim's file name, and for the name that some engines load by default. */
bool shim_has_name(const char *path);

/* After this time without a user, a copy may be detached to make room. */
#define SHIM_UNUSED_NS 10000000000ull

#define SHIM_ATTACH_NS 5000000000ull /* a copy that takes longer to attach to is refused */

struct shim_copy {
	struct mapped_file file;
	uint32_t probe;	  /* number of the attacher's; 0: refused */
	uint32_t pending; /* the same while it is being attached; else 0 */
	uint32_t cookie;  /* `copy` of its records; 0: the installed shim */
	bool beside;	  /* by shim_copies_add(): not among `attached`, and does not give way */
	uint64_t requested_ns; /* when it was requested */
	uint64_t deferred_ns;  /* when it was last known to wait for the holder of a lock */
	uint64_t attached_ns;  /* events from then on are reported; 0: refused, or pending */
	uint64_t used_ns;      /* when a process last mapped it, or inherited it */
	VEC(uint32_t) pids;    /* processes that did; some may have ended */
	/* Of the first process that did, while it is attached or pending; a reference. */
	struct budget_owner *owner;
};

/* A fork that may inherit a copy. */
struct shim_copy_fork {
	uint32_t pid, parent_pid;
	uint64_t time_ns;
};

/* A hit of a probe, to detect repeated records. */
struct shim_hit {
	uint32_t pid, tid;
	uint32_t copy;
	uint64_t hash; /* of the record's data */
};

#define SHIM_HITS_KEPT 64

struct shim_copies {
	/* Borrowed; the caller sets these. */
	const struct probe_site *site; /* of the installed shim, with its place chosen */
	int program_fd;
	struct file_store *files;
	struct attacher *attacher;
	const struct process_owners *owners; /* of processes */

	VEC(struct shim_copy) known;
	struct owner_budget budget;	      /* of in_use */
	struct shim_hit hits[SHIM_HITS_KEPT]; /* the latest hits, a ring */
	uint32_t next_hit;
	uint64_t attached, refused, over_budget; /* over the whole run */
	uint32_t cookies;			 /* given to probes so far */
	uint32_t in_use;			 /* copies that are attached now, or pending */
	VEC(struct shim_copy_fork) forks;	 /* of this drain and the one before */
	uint64_t round_ns;			 /* start of the drain before */
	uint64_t try_ns;	     /* earliest time of the next search for an unused copy */
	bool deferred;		     /* the installed shim's probe was not attached at the start */
	struct shim_waiting waiting; /* the caller passes them again */
};

/*
 * Request a probe on the installed shim, before other calls, and wait for the answer; if a process
 * holds the lock of its memory map, the probe remains pending. Returns 0 or a negative errno.
 */
int shim_copies_install(struct shim_copies *copies);

/*
 * Request a probe on a copy before a process maps it. It is pending until its answer is taken. If
 * it cannot be attached to, it counts as refused, and the next mapping of it is met as that of any
 * copy. Returns 0 or -ENOMEM.
 */
int shim_copies_add(struct shim_copies *copies, const struct probe_site *site);

/*
 * See a mapping of a profiled process, and request a probe if the mapped file is a new copy. Sets
 * *ret to the copy, which is attached or pending, or to NULL for other files, and for the installed
 * shim unless its probe was deferred. If the file or an attacher does not answer in time, or all
 * copies that could give way are pending, the mapping is kept in `waiting`. Returns 0 or -ENOMEM.
 */
int shim_copies_see(struct shim_copies *copies, const struct jitbpf_mapping *mapping,
		    const struct shim_copy **ret);

/* See a fork: the child inherits the mappings of its parent. Returns 0 or -ENOMEM. */
int shim_copies_fork(struct shim_copies *copies, const struct jitbpf_task *fork);

/* Receives the answer to a pending request: when it was attached, 0 if it was refused. */
typedef void (*shim_attached_fn)(void *context, uint32_t pending, uint64_t attached_ns);

/* Take the attacher's answers. */
void shim_copies_take_answers(struct shim_copies *copies, shim_attached_fn attached, void *context);

/* Returns true if a request is pending. */
bool shim_copies_are_pending(const struct shim_copies *copies);

/* End a drain that began at round_ns. Returns 0 or -ENOMEM. */
int shim_copies_end_round(struct shim_copies *copies, uint64_t round_ns);

/*
 * Make room for one more copy, of a process of that owner. If no copy is unused, the owner with the
 * most copies gives way: it loses the copy that was not used for longest. Returns false if that is
 * the owner itself.
 */
bool shim_copies_make_room(struct shim_copies *copies, struct budget_owner *owner);

/*
 * Returns the copy that is unused for longest, or NULL if all are in use: a process that maps it
 * lives, or did SHIM_UNUSED_NS ago.
 */
struct shim_copy *shim_copies_unused(struct shim_copies *copies, uint64_t now_ns);

/*
 * Returns true if the probe of a record is still pending: the attacher's answer has not been taken.
 * The journal, which is read then, has the event.
 */
bool shim_copies_is_early(const struct shim_copies *copies, const struct jitbpf_jit *jit);

/*
 * Returns true if a record repeats an earlier record of the same hit. Overlays that share a lower
 * directory (containers of one image) show one inode as several files, and the probes of all fire.
 * So of equal records of one thread from different copies, the first one is used.
 */
bool shim_copies_repeats(struct shim_copies *copies, const struct jitbpf_jit *jit);

void shim_copies_deinit(struct shim_copies *copies);

#endif
