/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Mappings whose files did not answer when they were met, in the order in which they are searched
 * again. Their number is bounded, and shared by the owners of the processes. Event loop only.
 */
#ifndef JITBPF_AGENT_FILES_LATE_FILES_H
#define JITBPF_AGENT_FILES_LATE_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/owner_budget.h"
#include "base/vec.h"
#include "uapi/record.h"

#define LATE_FILES_MAX 1024
#define LATE_FILES_NS  10000000000ull /* age at which a file is not searched again */

/* What the kernel reported about the file of a mapping. */
struct told_file {
	uint64_t generation;		       /* of its inode; 0: not known */
	uint8_t build_id[JITBPF_BUILD_ID_MAX]; /* padded with zeros */
	uint32_t build_id_bytes;	       /* 0: not known */
};

struct told_file told_file_of(const struct jitbpf_mapping *mapping);
void told_file_restore(struct jitbpf_mapping *mapping, const struct told_file *told);

struct late_file {
	struct jitbpf_mapping *mapping; /* a copy; its time is when the file was met first */
	struct budget_owner *owner;	/* a reference */
};

struct late_files {
	VEC(struct late_file) files;
	struct owner_budget budget; /* of their number */
};

void late_files_init(struct late_files *files);
void late_files_deinit(struct late_files *files);

/*
 * Add a copy of a mapping, as it was reported (told_file_restore()). Without memory, or if the
 * owner has too many of them, the file is not searched again.
 */
void late_files_add(struct late_files *files, const struct jitbpf_mapping *mapping,
		    const struct told_file *told, struct owner_key owner, uint64_t now_ns);

/*
 * Take the file that was searched longest ago. Returns false if there is none. The caller passes it
 * to late_files_put_back() or late_files_drop().
 */
bool late_files_take(struct late_files *files, struct late_file *ret);

/* Put a file behind all others, or drop it if it is too old. */
void late_files_put_back(struct late_files *files, struct late_file file, uint64_t now_ns);

/* Returns the mapping, which the caller frees. */
struct jitbpf_mapping *late_files_drop(struct late_files *files, struct late_file file);

#endif
