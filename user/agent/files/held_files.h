/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Open descriptors of files, which keep files and file systems alive.
 *
 * A descriptor of a linked file on a disk costs nothing; the HELD_MAX that were used last are held.
 * All others can keep memory or a mount of another user alive: those of deleted files, memfds and
 * shared memory, of tmpfs, overlayfs and FUSE. They are released HELD_GRACE_NS after their last
 * use, and may keep at most HELD_PINNED_MAX bytes of memory that is known. Both limits are shared:
 * no owner of processes can use up the part of others (base/owner_budget.h).
 *
 * Not thread-safe. Times are CLOCK_MONOTONIC.
 */
#ifndef JITBPF_AGENT_FILES_HELD_FILES_H
#define JITBPF_AGENT_FILES_HELD_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/owner_budget.h"
#include "base/vec.h"

#define HELD_MAX	256
#define HELD_PINNED_MAX (64ull << 20)
#define HELD_GRACE_NS	5000000000ull
#define HELD_NONE	UINT32_MAX

struct held_file {
	int fd;
	uint32_t file; /* number of the file in the caller's table */
	bool direct;   /* queries of its file system do not block */
	bool lasting;  /* linked, and on a disk */
	uint64_t used_ns;
	uint64_t pinned_bytes;
	struct budget_owner *count_owner, *pinned_owner;
};

struct held_files {
	VEC(struct held_file) files;
	struct owner_budget count, pinned;
	/*
	 * Called when the number of a file's entry changes (HELD_NONE: the file was closed). Must
	 * not change the held files.
	 */
	void (*moved)(void *context, uint32_t file, uint32_t held);
	void *context;
};

void held_files_init(struct held_files *ret,
		     void (*moved)(void *context, uint32_t file, uint32_t held), void *context);
void held_files_deinit(struct held_files *held);

struct held_properties {
	bool direct, lasting;
	uint64_t pinned_bytes; /* of memory that the descriptor keeps; UINT64_MAX: not bounded */
};

/* Hold a descriptor for an owner of processes, as far as limits allow. Takes over fd. */
void held_files_add(struct held_files *held, int fd, uint32_t file,
		    const struct held_properties *properties, struct owner_key owner,
		    uint64_t now_ns);

/* Close a descriptor. */
void held_files_release(struct held_files *held, uint32_t at);

/*
 * Close what has not been used in time, and find out which direct files were deleted or have grown.
 * Call it about every second.
 */
void held_files_expire(struct held_files *held, uint64_t now_ns);

#endif
