/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table of files that were seen, by device, inode and path, with descriptors
 * for as many as may be open. Each was verified as the file of its mapping. A later file can get
 * the same inode number and path; kept_file_is_known() says whether that can be so.
 *
 * A file is removed some time after it was last seen, if no module refers to it. One thread adds,
 * finds and removes files, without locking to find; other threads only open them.
 */
#ifndef JITBPF_AGENT_FILES_KEPT_FILES_H
#define JITBPF_AGENT_FILES_KEPT_FILES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/files/file_reader.h"
#include "base/index_map.h"
#include "base/vec.h"
#include "state/process/module_table.h"

#define STORED_FILES_MAX      65536
#define STORED_FILES_PATH_MAX (16u << 20) /* total length of all paths */
#define FILE_KEEP_NS	      20000000000ull

struct file_key {
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	const char *path;
};

struct kept_file {
	struct file_key key;	 /* path is owned by the table */
	struct found_file found; /* fd is -1 if it is not kept; version 0: it was not found */
	bool unanswered;	 /* found is empty: the file may be found later */
	uint64_t generation;	 /* of the inode, as perf reported it; 0: not known */
	uint32_t pid;		 /* process in which it was last searched */
	uint64_t seen_ns;	 /* when kept_files_find() last found it, or it was added */
	bool in_use;		 /* in kept_files_forget(): a module refers to it */
};

struct kept_files {
	pthread_mutex_t lock; /* protects adding, and look-ups by other threads */
	VEC(struct kept_file) files;
	struct index_map index;
	uint64_t path_bytes;
	uint32_t kept, kept_max;
	size_t sweep_at;      /* number of files at which the next sweep is worthwhile */
	uint64_t sweep_at_ns; /* earliest time of the next sweep */
};

void kept_files_init(struct kept_files *ret);
void kept_files_deinit(struct kept_files *files);

/*
 * Returns a file, which was seen at now_ns, or NULL. Only for the thread that adds files; valid
 * until it adds or removes one.
 */
const struct kept_file *kept_files_find(struct kept_files *files, const struct file_key *key,
					uint64_t now_ns);

/* Returns true if no more files can be added. */
bool kept_files_full(const struct kept_files *files);

/*
 * Returns true if a mapping by process pid, with a generation (0: not known), is of this file:
 * its inode still exists because it is open here, or the generations are equal. A file that was not
 * found is known as such for the same process only.
 */
bool kept_file_is_known(const struct kept_file *file, uint64_t generation, uint32_t pid);

/*
 * Add a file, or replace it: only `found` and the members after it are used. Takes over found.fd in
 * all cases. Returns 0 or -ENOMEM.
 */
int kept_files_set(struct kept_files *files, const struct file_key *key,
		   const struct kept_file *file, uint64_t now_ns);

/*
 * Remove files that no module of the table refers to, and that were not seen for FILE_KEEP_NS.
 * Does nothing until enough files were added to make a sweep worthwhile: call it every round.
 */
void kept_files_forget(struct kept_files *files, const struct module_table *modules,
		       uint64_t now_ns);

/*
 * Get a file of the table, from any thread, if it has that version. The caller owns ret->fd, which
 * is -1 if it is not kept. Returns 0, -ENOENT or another negative errno.
 */
int kept_files_get(struct kept_files *files, const struct file_key *key, uint64_t version,
		   struct found_file *ret);

#endif
