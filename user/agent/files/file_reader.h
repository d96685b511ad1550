/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One thread's way to files, through a helper process (file_helper.h) where they may
 * keep it waiting, and never longer than its patience lasts. Time is charged to places, such as a
 * device or a process's root: one whose time is used up is given up, and not asked again.
 */
#ifndef JITBPF_AGENT_FILES_FILE_READER_H
#define JITBPF_AGENT_FILES_FILE_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/files/file_helper.h"
#include "agent/files/file_place.h"
#include "base/blob.h"

/* Once so many places have been given up, all are. */
#define FILE_PLACES_GIVEN_UP_MAX 8

struct file_patience {
	uint32_t answer_ms; /* for one answer */
	uint32_t place_ms;  /* for all slow answers of one place */
};

/* A file that was found. The owner closes fd, which costs nothing. */
struct found_file {
	int fd; /* O_PATH: stands for it; where it is direct, open for reading */
	bool direct;
	uint64_t size_bytes;
	uint8_t build_id[JITBPF_BUILD_ID_MAX];
	uint32_t build_id_bytes; /* 0: none */
};

struct file_reader; /* see file_reader.c */

/* Borrows helpers. Returns 0 or -ENOMEM. */
int file_reader_create(const struct file_helpers *helpers, struct file_patience patience,
		       struct file_reader **ret);
void file_reader_destroy(struct file_reader *reader);

/*
 * Ask one of the FIND kinds. Returns 0 with *ret set, or negative errno: -ETIMEDOUT
 * where there was no answer in time, or the place has been given up.
 */
int file_reader_find(struct file_reader *reader, struct file_place place,
		     const struct file_request *request, struct found_file *ret);

/*
 * A file that was found as a blob, which takes over found->fd; the reader outlives
 * it. One that is direct asks nobody. Returns 0 or negative errno (found untouched).
 */
int file_reader_blob(struct file_reader *reader, struct file_place place, struct found_file *found,
		     struct blob *ret);

/*
 * Copy what process pid has at address, as far as it can be read: *ret_bytes, not 0.
 * Returns 0 or negative errno.
 */
int file_reader_memory(struct file_reader *reader, uint32_t pid, uint64_t address, void *buf,
		       size_t size_bytes, size_t *ret_bytes);

/* Have other patience with the debuginfod servers. */
void file_reader_set_servers(struct file_reader *reader, struct file_patience patience);

/* What was asked for when a place was given up, by number; NULL: there are no more. */
const char *file_reader_given_up(const struct file_reader *reader, uint32_t number);

#endif
