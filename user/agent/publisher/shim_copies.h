/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies of the shim: a probe belongs to a file's inode, so that each copy, in a
 * container or left over from an update, needs its own. They are found by the mappings
 * of processes, whatever mount namespace those are in, and also where they have been deleted.
 *
 * Any process can map a file of that name. One counts only if it has the probe and, at its
 * place, the very code of ours; the others are refused, and counted.
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
#define SHIM_REFUSED_MAX 1024 /* files remembered that only have the name */

/* Whether a file can be one by its path: ours, or what some engines look for by themselves. */
bool shim_has_name(const char *path);

/* Whose events before a copy was attached nobody has heard: to be read from their journals. */
enum shim_unheard {
	SHIM_UNHEARD_NONE,
	SHIM_UNHEARD_NEW, /* of processes that began after we came: the others' are read anyway */
	SHIM_UNHEARD_ALL,
};

struct shim_copy {
	struct mapped_file file;
	struct bpf_link *link; /* NULL: it was refused, or it is the shim that we have anyway */
	enum shim_unheard unheard;
};

/* A hit of the probe, to be told from another. */
struct shim_hit {
	uint32_t pid, tid;
	uint32_t copy;
	uint64_t hash; /* of its data */
};

#define SHIM_HITS_KEPT 64

struct shim_copies {
	/* Borrowed. The caller sets these, and `unheard`, which new ones get. */
	const struct probe_site *site; /* with its place chosen */
	struct bpf_program *program;
	struct file_store *files;
	enum shim_unheard unheard;

	VEC(struct shim_copy) known;
	struct shim_hit hits[SHIM_HITS_KEPT]; /* the latest, in a circle */
	uint32_t next_hit;
	uint64_t attached, refused, over_budget;
	bool some_unheard;
};

/*
 * See a mapping of a process that is profiled; attach to what it maps where that is a
 * copy not met before. Returns 0 or -ENOMEM.
 */
int shim_copies_see(struct shim_copies *copies, const struct jitbpf_mapping *mapping);

/* What has not been heard through the file that a mapping maps. */
enum shim_unheard shim_copies_unheard(const struct shim_copies *copies,
				      const struct jitbpf_mapping *mapping);

/*
 * Whether a record is of the same hit as one before. One inode can be seen as several files
 * (overlays with a lower folder in common, as those of containers that are made from one
 * image), whose probes then all fire: of a thread's equal records by different copies, the
 * first counts.
 */
bool shim_copies_repeats(struct shim_copies *copies, const struct jitbpf_jit *jit);

/* From now on all is heard. */
void shim_copies_heard(struct shim_copies *copies);

void shim_copies_deinit(struct shim_copies *copies);

#endif
