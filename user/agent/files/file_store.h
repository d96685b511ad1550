/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of executable mappings, opened when a mapping is first seen: later
 * the process may have exited, or the file may have been replaced. All accesses
 * go through helper processes (file_helper.h) and have time limits. Five threads
 * use the store: the event loop, the symbol worker, the unwind worker, the
 * runtime worker and the thread of annotations. Each has a file reader of its
 * own; the files that they share are locked (kept_files.h).
 */
#ifndef JITBPF_AGENT_FILES_FILE_STORE_H
#define JITBPF_AGENT_FILES_FILE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/files/helper/process_maps.h"
#include "agent/files/memory_source.h"
#include "agent/files/reading/file_reader.h"
#include "agent/roles/broker.h"
#include "decode/text/proc_maps.h"
#include "sink/file_packages.h"
#include "state/process/process_owners.h"
#include "symbolize/symbolizer.h"
#include "uapi/record.h"

struct file_store; /* see file_store.c */

struct file_store_options {
	/*
	 * The mapped files are of this machine and in use now. Enables the vDSO, and paths
	 * in processes' roots.
	 */
	bool live;
	bool debuginfod;	     /* query the servers in $DEBUGINFOD_URLS */
	const struct broker *broker; /* borrowed; NULL: the store starts one of its own */
	uint64_t kept_bytes;	     /* limit of the memory for known files; 0: the default */
};

struct file_store_counts {
	uint64_t unanswered;	/* files without a build ID in time */
	uint64_t over_budget;	/* files evicted or not searched; found when needed */
	uint64_t no_descriptor; /* files not found: this process had no descriptor left */
	uint64_t known;		/* files that are known now */
	bool broker_lost;	/* it was killed: no file is opened any more */
	/* Mappings of processes with samples, at whose path another file is; whose file is gone. */
	uint64_t unverified, gone;
};

/*
 * Create the store. Without a broker, call it while this process has one thread.
 * Returns 0 or a negative errno.
 */
int file_store_create(const struct file_store_options *options, struct file_store **ret);
void file_store_destroy(struct file_store *store);

/*
 * From now on, charge mapped files to the owners of the processes. owners is borrowed; NULL: files
 * are not charged. Event loop only.
 */
void file_store_set_owners(struct file_store *store, const struct process_owners *owners);

/*
 * Return true if the file of a mapping is on the kernel's internal tmpfs, or on its internal
 * hugetlbfs. Files of memfd_create() and shared anonymous memory are there.
 */
bool file_store_is_shared_memory(const struct file_store *store,
				 const struct jitbpf_mapping *mapping);
bool file_store_is_huge_memory(const struct file_store *store,
			       const struct jitbpf_mapping *mapping);

/*
 * Identify the file of a mapping (inode not 0; inode_generation and build_id as the kernel reports
 * them, 0: not known). Sets its build ID, and inode_generation to the version of the file
 * (file_identity.h); both to 0 if the file was not found. A file counts as found only if the kernel
 * reports the mapping's device and inode for it. If it is gone, but a known file describes it by
 * its build ID (equal_files.h), the mapping gets the version of that file. Corrects the device if
 * the kernel misreported it. Returns true if the file is gone: it is mapped no more, it is not at
 * its path, and no known file describes it. Event loop only.
 */
bool file_store_meet(struct file_store *store, struct jitbpf_mapping *mapping);

/* A process has a sample, so its files count. Event loop only. */
void file_store_sampled(struct file_store *store, uint32_t pid);

/* A process begins. NULL is allowed. */
void file_store_begun(struct file_store *store, uint32_t pid);

/*
 * Retry files that did not answer in file_store_meet(). Close and remove files that were not seen
 * for a while and that no module refers to. Call it every round. Event loop only.
 */
void file_store_forget(struct file_store *store, const struct module_table *modules);

/*
 * Take a mapping that file_store_meet() could not identify in time, but file_store_forget() could.
 * The caller frees it. Returns NULL if there is none. Event loop only.
 */
struct jitbpf_mapping *file_store_take_identified(struct file_store *store);

/*
 * Open the file of a mapping even if its path has changed. *ret_fd, owned by
 * the caller, is at least O_PATH; *ret reads the file and must be closed before
 * the store is destroyed. Returns 0 or a negative errno: -ETIMEDOUT if the file
 * system does not answer. Event loop only.
 */
int file_store_open_mapped(struct file_store *store, const struct jitbpf_mapping *mapping,
			   int *ret_fd, struct blob *ret);

/* A file that a process writes and that is read as it grows. */
struct followed_file {
	struct found_file found; /* the owner closes found.fd */
	struct file_place place;
};

/*
 * Open the file of a mapping to follow it; it may still be empty. Returns 0 or a negative errno.
 * Event loop only, as the next two.
 */
int file_store_follow(struct file_store *store, const struct jitbpf_mapping *mapping,
		      struct followed_file *ret);

/* See file_reader_growing(). */
int file_store_read_followed(struct file_store *store, const struct followed_file *file,
			     uint64_t offset, void *buf, size_t size_bytes, size_t *ret_bytes,
			     uint64_t *ret_file_bytes);

/*
 * Open a memfd that a process maps, for reading; path is the target of the link in /proc. Returns a
 * descriptor, owned by the caller, or a negative errno: -EACCES if the mapping is of another file.
 * With store NULL, this process opens the file itself; for its own memfds.
 */
int file_store_open_memfd(struct file_store *store, uint32_t pid, const struct proc_map *map,
			  const char *path);

/* Set ret to the path that a descriptor of a process leads to. Returns 0 or a negative errno. */
int file_store_read_link(struct file_store *store, uint32_t pid, uint32_t fd,
			 char ret[FILE_PATH_MAX]);

/*
 * Read /proc/PID/cgroup, up to room_bytes; cgroup_files_path() finds the path in it. Returns 0 or a
 * negative errno.
 */
int file_store_read_cgroup(struct file_store *store, uint32_t pid, char *buf, size_t room_bytes,
			   size_t *ret_bytes);

/*
 * Get the name that the container runtime gives the container with an ID; of the machine, or of a
 * user who runs containers without root. Return 0 or a negative errno: -ENOENT if it is not known.
 */
int file_store_container_name(struct file_store *store, const char *id,
			      char ret[JITBPF_CGROUP_NAME_MAX]);
int file_store_user_container_name(struct file_store *store, uint32_t uid, const char *id,
				   char ret[JITBPF_CGROUP_NAME_MAX]);

/*
 * Copy memory of a process that writes a followed file, or a journal in its memory: size_bytes or
 * none. Returns 0 or a negative errno.
 */
int file_store_read_writer(struct file_store *store, uint32_t pid, uint64_t address, void *buf,
			   size_t size_bytes);

/*
 * Begin a turn of the event loop. Its requests for files time out FILE_TURN_NS from now, and reads
 * of maps at MAPS_TURN_NS, which leaves time for the files of the last maps. Requests without an
 * answer are repeated in later turns. If no turn was ever begun, only the limits of each request
 * apply. Event loop only.
 */
#define FILE_TURN_NS 70000000ull
void file_store_begin_turn(struct file_store *store);

/* Returns the reader of processes' maps. Borrowed; NULL if store is NULL. Event loop only. */
struct process_maps *file_store_maps(struct file_store *store);

/* Event loop only. */
struct file_store_counts file_store_counts(const struct file_store *store);

/*
 * Set *ret to a file source for the symbolizer's thread. A module is opened by its kept descriptor,
 * or else found anew and verified. If its process has exited, a file at its path in our root is
 * also accepted if it has the build ID and a trusted owner: root, the user of this process, or the
 * owner of the module's file.
 * Debug files are accepted from trusted owners only, since anybody can make a file with a build
 * ID or CRC. *ret borrows store.
 */
void file_store_source(struct file_store *store, struct file_source *ret);

/*
 * Set files of modules and memory of processes as sources: for the unwind worker's thread, and for
 * that of the runtime worker. They borrow store.
 */
void file_store_unwind_sources(struct file_store *store, struct file_source *ret_files,
			       struct memory_source *ret_memory);
void file_store_runtime_sources(struct file_store *store, struct file_source *ret_files,
				struct memory_source *ret_memory);

/*
 * Set *ret to a source of modules, and of debug files on this machine, for the thread of
 * annotations. *ret borrows store.
 */
void file_store_code_source(struct file_store *store, struct file_source *ret);

/*
 * Find the packages of modules, at most FILE_PACKAGES_MAX. The package of a module is that of the
 * file at its path in our root, if the build IDs are equal. So files of containers are found only
 * if this machine has them, too. One thread at a time. *ret is empty before the call. Returns 0 or
 * a negative errno; the caller calls file_packages_deinit() in any case.
 */
int file_store_find_packages(struct file_store *store, const struct module *const modules[],
			     size_t count, struct file_packages *ret);

/*
 * Returns the name of a place that was given up, by number from 0: a file that did not answer, or
 * "a debuginfod server". NULL if there are no more. Call it when no thread uses the store any more.
 */
const char *file_store_given_up(const struct file_store *store, uint32_t number);

/*
 * Returns -EPERM if the kernel refused /proc/PID/map_files, so that files which are not at their
 * path were not found, or 0. Event loop only.
 */
int file_store_mappings_error(const struct file_store *store);

/*
 * Returns why no server was queried although some are configured: -ENOSYS (no
 * libdebuginfod), -EPERM (the cache would belong to another user), or 0. Call
 * it when no thread uses the store any more.
 */
int file_store_debuginfod_error(const struct file_store *store);

#endif
