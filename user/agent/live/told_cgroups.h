/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports the name of each cgroup whose ID is in an OWNER record, once: the path in the process's
 * /proc/PID/cgroup, if the cgroup at that path has this ID, and the name of its container. Further
 * processes of a cgroup cost nothing. A helper process reads the files, since both can block. A
 * cgroup that was removed by then has no name, unless another process with its ID follows.
 *
 * At most TOLD_CGROUPS_MAX cgroups are known at a time; owners share this number. Beyond that, the
 * oldest cgroup of the same owner, or of the owner with most of them, is evicted, and has no name
 * from then on. Event loop only.
 */
#ifndef JITBPF_AGENT_LIVE_TOLD_CGROUPS_H
#define JITBPF_AGENT_LIVE_TOLD_CGROUPS_H

#include <stdint.h>

#include "base/index_map.h"
#include "base/owner_slots.h"
#include "base/vec.h"
#include "pipeline/source.h"
#include "uapi/record.h"

#define TOLD_CGROUPS_MAX	   4096
#define TOLD_CGROUP_PATH_MAX	   1024 /* with its NUL; cgroups with longer ones have no name */
#define TOLD_CGROUP_TRIES_MAX	   8	/* processes whose file is read */
#define TOLD_CGROUP_WAITS_MAX	   250	/* rounds without an answer */
#define TOLD_CGROUP_HOME_WAITS_MAX 20	/* the same, of a user's home */
#define TOLD_CGROUPS_WAIT_MAX	   256	/* cgroups that wait for an answer */

struct file_store;
struct told_cgroup;

/* Empty if zero-initialized; the owner sets `files`. */
struct told_cgroups {
	struct file_store *files; /* borrowed; NULL: nothing is reported */
	char *mount;		  /* of cgroup version 2; NULL: not known */
	struct owner_slots slots;
	struct told_cgroup *cgroups; /* by slot */
	struct index_map index;
	VEC(uint64_t) waiting; /* IDs whose process did not answer in time */
	VEC(uint64_t) gone;    /* evicted IDs that were reported */
};

/* Find the mount. Returns 0 or -ENOMEM. */
int told_cgroups_init(struct told_cgroups *told, struct file_store *files);
void told_cgroups_deinit(struct told_cgroups *told);

/* See the OWNER record of a process. Reports come before it. Returns 0 or that of take(). */
int told_cgroups_see(struct told_cgroups *told, const struct jitbpf_owner *owner,
		     record_taker_fn take, void *take_context);

/*
 * Read the files of the waiting cgroups again, and emit their records as of time_ns. Returns 0 or
 * the error of take().
 */
int told_cgroups_round(struct told_cgroups *told, uint64_t time_ns, record_taker_fn take,
		       void *take_context);

#endif
