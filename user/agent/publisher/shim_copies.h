/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies of the shim, beside the installed one: in a container, or left over from an update. A
 * probe belongs to an inode, so each copy needs a probe of its own. Copies are found by the
 * mappings of processes, in any mount namespace, deleted or not.
 *
 * Any process can map a file of that name. A file counts as a copy only if it has the probe and, at
 * the probe's offset, exactly the code of ours. Other files are refused and counted.
 */
#ifndef JITBPF_AGENT_PUBLISHER_SHIM_COPIES_H
#define JITBPF_AGENT_PUBLISHER_SHIM_COPIES_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/files/file_store.h"
#include "agent/publisher/probe_site.h"
#include "base/vec.h"
#include "uapi/record.h"

#define SHIM_COPIES_MAX	 64   /* attached: each is slow to attach and slower to detach */
#define SHIM_REFUSED_MAX 1024 /* refused files that are remembered; more are looked at again */

/* Whether a path has the shim's file name, or the one that some engines look for by themselves. */
bool shim_has_name(const char *path);

struct shim_copy {
	struct mapped_file file;
	struct bpf_link *link; /* NULL: refused */
	uint64_t attached_ns;  /* the probe reports what happens from then on */
};

/* One hit of a probe, to be told from another. */
struct shim_hit {
	uint32_t pid, tid;
	uint32_t copy;
	uint64_t hash; /* of the record's data */
};

#define SHIM_HITS_KEPT 64

struct shim_copies {
	/* Borrowed; the caller sets these. */
	const struct probe_site *site; /* of the installed shim, with its place chosen */
	struct bpf_program *program;
	struct file_store *files;

	VEC(struct shim_copy) known;
	struct shim_hit hits[SHIM_HITS_KEPT]; /* the latest, as a ring */
	uint32_t next_hit;
	uint64_t attached, refused, over_budget;
};

/*
 * See a mapping of a profiled process. Attaches to the mapped file if it is a copy that is not
 * known yet. *ret_attached_ns is when its probe was attached, 0 if it is no copy, or the installed
 * shim. Returns 0 or -ENOMEM.
 */
int shim_copies_see(struct shim_copies *copies, const struct jitbpf_mapping *mapping,
		    uint64_t *ret_attached_ns);

/*
 * Whether a record repeats an earlier one of the same hit. One inode can show as several files
 * (overlays that share a lower folder, such as containers of one image); then all their probes
 * fire. Of equal records of one thread by different copies, the first counts.
 */
bool shim_copies_repeats(struct shim_copies *copies, const struct jitbpf_jit *jit);

void shim_copies_deinit(struct shim_copies *copies);

#endif
