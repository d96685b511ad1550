/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that were met, by device, inode and path, and what was found of them then; for as
 * many as may be open, with their descriptors. One thread adds and looks up, which
 * needs no lock; others open.
 */
#ifndef JITBPF_AGENT_FILES_KEPT_FILES_H
#define JITBPF_AGENT_FILES_KEPT_FILES_H

#include <pthread.h>
#include <stdint.h>

#include "agent/files/file_reader.h"
#include "base/index_map.h"
#include "base/vec.h"

#define STORED_FILES_MAX      65536
#define STORED_FILES_PATH_MAX (16u << 20) /* bytes of all their paths */

struct file_key {
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	const char *path;
};

struct kept_file {
	struct file_key key;	 /* its path is our own */
	struct found_file found; /* fd -1: not kept */
};

struct kept_files {
	pthread_mutex_t lock; /* of adding, and of looking up in other threads */
	VEC(struct kept_file) files;
	struct index_map index;
	uint64_t path_bytes;
	uint32_t kept, kept_max;
};

void kept_files_init(struct kept_files *ret);
void kept_files_deinit(struct kept_files *files);

/* Of the thread that adds: NULL where it was not met; valid until it adds. */
const struct found_file *kept_files_find(const struct kept_files *files,
					 const struct file_key *key);

/* Are there as many as there may be? */
bool kept_files_full(const struct kept_files *files);

/* A new one. Takes found->fd over, or closes it. Returns 0 or -ENOMEM. */
int kept_files_add(struct kept_files *files, const struct file_key *key, struct found_file *found);

/* Of any thread: *ret's descriptor is the caller's. Returns 0, -ENOENT or negative errno. */
int kept_files_open(struct kept_files *files, const struct file_key *key, struct found_file *ret);

#endif
