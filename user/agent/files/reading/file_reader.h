/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Access to files for one thread. Requests go to a helper process
 * (file_helper.h) if the file can block, and waiting is limited. The time is
 * charged to places, such as a device or the root of a process, for the owner of
 * the process that needs them. A place whose time is used up is given up: its
 * requests fail at once. A request fails with
 * -EMFILE, which no place is charged for, if this process has no descriptor left
 * for a helper or for the answer.
 */
#ifndef JITBPF_AGENT_FILES_READING_FILE_READER_H
#define JITBPF_AGENT_FILES_READING_FILE_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/files/helper/file_helper.h"
#include "agent/files/reading/place_accounts.h"
#include "agent/roles/broker.h"
#include "base/blob.h"

/* A file that was found. The owner closes fd, which never blocks. */
struct found_file {
	int fd; /* O_PATH, or open for reading if direct is set */
	bool direct;
	uint32_t owner;		       /* user id */
	uint32_t flags;		       /* FILE_* of file_helper.h */
	uint32_t dev_major, dev_minor; /* of its mappings, if the request has an inode */
	struct file_actor actor;       /* who may open it */
	uint64_t version;	       /* file_identity_version() */
	uint64_t pinned_bytes;	       /* file_pinned_bytes() */
	uint64_t size_bytes;
	uint8_t build_id[JITBPF_BUILD_ID_MAX];
	uint32_t build_id_bytes; /* 0 if there is none */
};

struct file_reader; /* see file_reader.c */

/* broker is borrowed. Returns 0 or -ENOMEM. */
int file_reader_create(const struct broker *broker, struct file_patience patience,
		       struct file_reader **ret);
void file_reader_destroy(struct file_reader *reader);

/* Start the helper of most requests, so that the first one does not wait for that. */
void file_reader_begin(struct file_reader *reader);

/* Returns false if requests for a place fail at once now. */
bool file_reader_has_time(struct file_reader *reader, struct file_place place);

/*
 * Open a mapping of a process by itself. The time is charged to the process. Returns an O_PATH
 * descriptor, owned by the caller, or a negative errno: -EPERM if the kernel refuses it.
 */
int file_reader_mapping(struct file_reader *reader, uint32_t pid, struct owner_key owner,
			uint64_t address, uint64_t size_bytes);

/* Returns true if requests about the memory of a process had no answer in time, and none since. */
bool file_reader_gave_up_memory(const struct file_reader *reader, uint32_t pid,
				struct owner_key owner);

/*
 * Send a request of kind FILE_OPEN_MEMFD. Returns a descriptor for reading, owned by the caller, or
 * a negative errno: -EACCES if the file is no memfd.
 */
int file_reader_memfd(struct file_reader *reader, const struct file_request *request,
		      struct owner_key owner);

/* Set ret to the path that a descriptor of a process leads to. Returns 0 or a negative errno. */
int file_reader_link(struct file_reader *reader, uint32_t pid, struct owner_key owner, uint32_t fd,
		     char ret[FILE_PATH_MAX]);

/*
 * Send a request of kind FILE_READ_CGROUP, _CONTAINER, _USER_CONTAINER or _PACKAGES, and copy the
 * answer. Sets *ret_bytes to its size. Returns 0 or a negative errno: -EMSGSIZE (no room).
 */
int file_reader_names(struct file_reader *reader, const struct file_request *request, char *buf,
		      size_t room_bytes, size_t *ret_bytes);

/*
 * Send one of the FIND requests, with mapping_fd (-1: none), which the caller
 * keeps. A file of a mapping that only the user of the process may open is
 * found as that user. Returns 0 with *ret set, or a negative errno: -ETIMEDOUT if there was
 * no answer in time, or if the place has been given up; -ESTALE if another file
 * than the one of the mapping was found.
 */
int file_reader_find(struct file_reader *reader, struct file_place place,
		     const struct file_request *request, int mapping_fd, struct found_file *ret);

/*
 * Create a blob over a found file. The blob takes over found->fd; the reader
 * must outlive it. A direct file is read without a helper. Returns 0 or a
 * negative errno; on failure the caller keeps found->fd.
 */
int file_reader_blob(struct file_reader *reader, struct file_place place, struct found_file *found,
		     struct blob *ret);

/*
 * Read what a file that grows has from offset on: up to size_bytes, and nothing past its end.
 * Sets *ret_bytes to how much that is, and *ret_file_bytes to the file's size after reading.
 * Returns 0 or a negative errno.
 */
int file_reader_growing(struct file_reader *reader, struct file_place place,
			const struct found_file *found, uint64_t offset, void *buf,
			size_t size_bytes, size_t *ret_bytes, uint64_t *ret_file_bytes);

/*
 * Copy memory of process pid, as far as it can be read. Sets *ret_bytes, which
 * is not 0. Returns 0 or a negative errno.
 */
int file_reader_memory(struct file_reader *reader, uint32_t pid, struct owner_key owner,
		       uint64_t address, void *buf, size_t size_bytes, size_t *ret_bytes);

/*
 * Send a request of kind FILE_COMPARE_MEMORY with fd, which the caller keeps. The time is charged
 * to the process. Returns 0 with *ret_telling set to the bytes in pages whose bytes are not all
 * equal, or a negative errno: -ESTALE if memory and file differ.
 */
int file_reader_compare(struct file_reader *reader, const struct file_request *request,
			struct owner_key owner, int fd, uint64_t *ret_telling);

/*
 * For a reader of the event loop: no request waits beyond *turn_end_ns (CLOCK_MONOTONIC; 0: no turn
 * has begun), nor longer than FILE_TURN_ANSWER_MS. If no time is left, a request fails with
 * -ETIMEDOUT; the caller repeats it in a later turn. Borrowed.
 */
#define FILE_TURN_ANSWER_MS 25
void file_reader_set_turn(struct file_reader *reader, const uint64_t *turn_end_ns);

/* Set separate time limits for debuginfod servers. */
void file_reader_set_servers(struct file_reader *reader, struct file_patience patience);

/*
 * Returns the name of the request for which place `number` was given up; NULL if there are no more
 * such places.
 */
const char *file_reader_given_up(const struct file_reader *reader, uint32_t number);

#endif
