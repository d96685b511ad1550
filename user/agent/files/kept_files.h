/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table of mapped files, by device, inode and path, with descriptors of some. Each was verified
 * as the file of its mapping. A later file can get the same inode number and path;
 * kept_file_is_known() tells them apart.
 *
 * A file is removed some time after it was last seen, if no module refers to it. The memory is
 * bounded: the owner of processes that uses the most of it loses the files that were seen longest
 * ago. They are found and verified again when needed.
 *
 * Descriptors: see held_files.h. Thread-safe.
 */
#ifndef JITBPF_AGENT_FILES_KEPT_FILES_H
#define JITBPF_AGENT_FILES_KEPT_FILES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/files/held_files.h"
#include "agent/files/reading/file_reader.h"
#include "base/index_map.h"
#include "base/owner_budget.h"
#include "base/vec.h"
#include "state/process/module_table.h"

#define KEPT_FILES_BYTES_MAX (24u << 20) /* of all files, with their paths */
#define FILE_KEEP_NS	     20000000000ull
#define FILE_MAPPERS	     4

struct file_key {
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	const char *path;
};

/* A mapping of a file, by which it can be opened while the process lives. */
struct file_mapper {
	uint32_t pid;
	struct owner_key owner; /* of the process */
	uint64_t address, size_bytes;
};

struct kept_file {
	struct file_key key;	 /* path is owned by the table */
	struct found_file found; /* fd is not used; version 0: it was not found */
	bool unanswered;	 /* found is empty: the file may be found later */
	bool late;		 /* it was: modules that were met before have no version */
	uint64_t generation;	 /* of the inode, as perf reported it; 0: not known */
	uint32_t pid;		 /* process in which it was last searched */
	struct owner_key finder; /* the owner of that process */
	struct file_mapper mappers[FILE_MAPPERS]; /* the latest, each of another process */
	uint32_t next_mapper;
	bool is_mapped;	  /* set by kept_files_find(): the mapping was seen before */
	uint64_t seen_ns; /* when kept_files_find() last found it, or it was added */
	bool in_use;	  /* in kept_files_forget(): a module refers to it */
	uint32_t held;	  /* in held_files; HELD_NONE: not held */
	struct budget_owner *owner;
};

struct kept_files {
	pthread_mutex_t lock;
	VEC(struct kept_file) files;
	struct index_map index;
	struct index_map build_ids; /* of the files that were found and have one */
	struct held_files held;
	struct owner_budget budget; /* in bytes */
	uint64_t evicted;	    /* files over the budget */
	size_t sweep_at;	    /* number of files at which the next sweep is worthwhile */
	uint64_t sweep_at_ns;	    /* earliest time of the next sweep */
	uint64_t release_at_ns;	    /* earliest time to release descriptors again */
};

void kept_files_init(struct kept_files *ret);
void kept_files_deinit(struct kept_files *files);

/*
 * Look up a file, and note that *mapper maps it at now_ns. Returns true with a copy of the entry in
 * *ret, or false. The pointers in the copy must not be used.
 */
bool kept_files_find(struct kept_files *files, const struct file_key *key,
		     const struct file_mapper *mapper, uint64_t now_ns, struct kept_file *ret);

/*
 * Returns true if a mapping by process pid, with a generation (0: not known), is of this file: its
 * inode still exists because it is open here, the generations are equal, or the same mapping of the
 * process was seen before. For an entry of a file that was not found, returns true for the same
 * process only.
 */
bool kept_file_is_known(const struct kept_file *file, uint64_t generation, uint32_t pid);

/* The hash of a build ID, padded with zeros, in the index of build IDs. */
uint64_t kept_build_id_hash(const uint8_t build_id[JITBPF_BUILD_ID_MAX]);

/*
 * Add a file, or replace it. An unanswered file becomes a late one if it was last searched for the
 * same mapping, or has the same generation. Of *file, only `found`, `unanswered`, `generation` and
 * `pid` are used. owner is that of the process. Takes over found.fd in all cases. Returns 0 or
 * -ENOMEM.
 */
int kept_files_set(struct kept_files *files, const struct file_key *key,
		   const struct kept_file *file, const struct file_mapper *mapper,
		   struct owner_key owner, uint64_t now_ns);

/* Hold a descriptor of a file that was found again, if it has its version. Takes over fd. */
void kept_files_hold(struct kept_files *files, const struct file_key *key, uint64_t version, int fd,
		     uint64_t now_ns);

/*
 * Release descriptors that are due (held_files.h). Once enough files were added, remove the files
 * that no module of the table refers to and that were not seen for FILE_KEEP_NS. Call it every
 * round.
 */
void kept_files_forget(struct kept_files *files, const struct module_table *modules,
		       uint64_t now_ns);

/*
 * Get a file of the table if it has that version; for version 0, if it is unanswered or late. The
 * caller owns ret->fd. It is -1 if no descriptor is held; then ret_mappers (FILE_MAPPERS entries)
 * has mappings by which the file may be opened. Returns 0, -ENOENT or another negative errno.
 */
int kept_files_get(struct kept_files *files, const struct file_key *key, uint64_t version,
		   uint64_t now_ns, struct found_file *ret, struct file_mapper *ret_mappers);

#endif
