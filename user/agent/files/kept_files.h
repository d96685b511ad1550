/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table of files that were seen, by device, inode and path, with descriptors
 * for as many as may be open. One thread adds and finds files, without locking;
 * other threads only open them.
 */
#ifndef JITBPF_AGENT_FILES_KEPT_FILES_H
#define JITBPF_AGENT_FILES_KEPT_FILES_H

#include <pthread.h>
#include <stdint.h>

#include "agent/files/file_reader.h"
#include "base/index_map.h"
#include "base/vec.h"

#define STORED_FILES_MAX      65536
#define STORED_FILES_PATH_MAX (16u << 20) /* total length of all paths */

struct file_key {
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	const char *path;
};

struct kept_file {
	struct file_key key;	 /* path is owned by the table */
	struct found_file found; /* fd is -1 if it is not kept */
};

struct kept_files {
	pthread_mutex_t lock; /* protects adding, and look-ups by other threads */
	VEC(struct kept_file) files;
	struct index_map index;
	uint64_t path_bytes;
	uint32_t kept, kept_max;
};

void kept_files_init(struct kept_files *ret);
void kept_files_deinit(struct kept_files *files);

/* Returns a file, or NULL. Only for the thread that adds files; valid until it adds one. */
const struct found_file *kept_files_find(const struct kept_files *files,
					 const struct file_key *key);

/* Returns true if no more files can be added. */
bool kept_files_full(const struct kept_files *files);

/* Add a file that is not in the table. Takes over found->fd in all cases. Returns 0 or -ENOMEM. */
int kept_files_add(struct kept_files *files, const struct file_key *key, struct found_file *found);

/*
 * Open a file of the table, from any thread. The caller owns ret->fd. Returns
 * 0, -ENOENT or another negative errno.
 */
int kept_files_open(struct kept_files *files, const struct file_key *key, struct found_file *ret);

#endif
