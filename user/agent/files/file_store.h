/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files behind mappings, found when first met: processes end, containers go,
 * files are replaced, but a descriptor stays. Nothing here waits for a file longer
 * than a moment: helper processes (file_helper.h) touch them. Used by three threads,
 * one that meets files (the event loop) and two that read them (the symbol worker and the
 * unwind worker); locks by itself.
 */
#ifndef JITBPF_AGENT_FILES_FILE_STORE_H
#define JITBPF_AGENT_FILES_FILE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/workers/memory_source.h"
#include "symbolize/symbolizer.h"
#include "uapi/record.h"

struct file_store; /* see file_store.c */

struct file_store_options {
	bool live;	 /* files are of this machine and now, so the vDSO is ours */
	bool debuginfod; /* ask the servers of $DEBUGINFOD_URLS, where there are any */
};

struct file_store_counts {
	uint64_t unanswered;  /* files met that had no build ID in time */
	uint64_t over_budget; /* files met that were too many: known by their path only */
};

/* Forks the helpers: call it while there is one thread. Returns 0 or negative errno. */
int file_store_create(const struct file_store_options *options, struct file_store **ret);
void file_store_destroy(struct file_store *store);

/*
 * See the file of a mapping (inode not 0). Returns the size of its build ID,
 * put into ret, or 0 where it has none, cannot be had, or does not answer. What it
 * says of a file never changes. One thread's.
 */
uint32_t file_store_meet(struct file_store *store, const struct jitbpf_mapping *mapping,
			 uint8_t ret[JITBPF_BUILD_ID_MAX]);

/*
 * The file of a mapping, whatever has become of its path: *ret_fd, the caller's, stands
 * for it (O_PATH at least), *ret reads it, until the store is gone. Of that thread too.
 * Returns 0 or negative errno: -ETIMEDOUT where it does not answer.
 */
int file_store_open_mapped(struct file_store *store, const struct jitbpf_mapping *mapping,
			   int *ret_fd, struct blob *ret);

/* Of that thread too. */
struct file_store_counts file_store_counts(const struct file_store *store);

/*
 * As the symbolizer's source, one thread's: the descriptor kept, else the path, if
 * the file there is the same (by build ID, or else by inode). *ret borrows store.
 */
void file_store_source(struct file_store *store, struct file_source *ret);

/* As the unwind worker's sources, likewise: of modules alone, and of processes' memory. */
void file_store_unwind_source(struct file_store *store, struct file_source *ret);
void file_store_memory_source(struct file_store *store, struct memory_source *ret);

/*
 * Where we gave up waiting, by number: a file that did not answer, or "a debuginfod
 * server". NULL: there are no more. Ask when no thread uses the store any more.
 */
const char *file_store_given_up(const struct file_store *store, uint32_t number);

/*
 * Why no server was asked, though there are some: -ENOSYS (no libdebuginfod), -EPERM
 * (its cache would be another user's), or 0. Ask likewise.
 */
int file_store_debuginfod_error(const struct file_store *store);

#endif
