/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Follows one jitdump file: reads on from where it stopped, record by record, while the process
 * writes. What the process has written but holds in a stdio buffer (stdio_stream.h) is read from
 * there: V8 writes the last records of a program when it ends, or never.
 *
 * Event loop only. Nothing here waits for a file longer than file_store.h says.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JITDUMP_FILE_H
#define JITBPF_AGENT_PUBLISHER_JITDUMP_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/files/file_store.h"
#include "agent/kernel/process_text.h"
#include "agent/publisher/stdio_stream.h"
#include "decode/record/jitdump_event.h"

/* Since the file was opened. */
struct jitdump_counts {
	uint64_t malformed;   /* records */
	uint64_t incomplete;  /* the file ended inside a record */
	uint64_t over_budget; /* records larger than JITDUMP_RECORD_MAX */
	uint64_t unreadable;  /* times that it was truncated, or made no sense any more */
	uint64_t foreign;     /* records of processes that are not known */
};

struct jitdump_file {
	struct jitbpf_mapping *mapping; /* of the file; owned */
	struct followed_file file;	/* found.fd -1: not open */
	uint64_t offset;		/* of the next record; may be past the end of the file */
	uint64_t file_bytes;		/* the largest size that was seen */
	uint64_t resume_offset;		/* of the next record before the file was truncated */
	bool begun;			/* the header has been read */
	bool given_up;			/* no record can be found in it any more */
	uint8_t stream_tries;
	struct stdio_stream stream;
	struct jitdump_events events;
	struct jitdump_counts counts;
};

/* What reading shares from file to file: room for a piece. The owner frees the vectors. */
struct jitdump_reader {
	struct file_store *store;
	process_text text;
	byte_vec room, tail, end;
};

/*
 * Whether a mapping may be of a jitdump file: jit-PID.dump, or jit-TID-PID.dump. *ret_pid is that
 * PID, as the process sees itself.
 */
bool jitdump_file_has_name(const char *path, uint32_t *ret_pid);

/* Copies the mapping. Returns 0 or -ENOMEM. jitdump_file_deinit() is due if it is 0. */
int jitdump_file_init(struct jitdump_file *ret, const struct jitbpf_mapping *mapping);
void jitdump_file_deinit(struct jitdump_file *file);

/*
 * Open the file, if it is regular and belongs to the user of the process or to root. Of a process
 * that has ended, the user is not known, and its pid is taken from the name of the file. Returns
 * 0; -ENXIO if it is of a parent that the process was forked from; -EPERM if it is another user's;
 * or negative errno: it cannot be had.
 */
int jitdump_file_open(struct jitdump_file *file, struct jitdump_reader *reader, bool ended);

/* Takes one event and, of a LOAD, its code. Borrowed. Returns 0 or negative errno. */
typedef int (*jitdump_taker_fn)(void *context, struct code_event *event, const void *code);

/*
 * Hand over the events of all records that are whole, until about *budget_bytes have been read,
 * and take what was read off it. Returns 1 if there is more, 0 if there is not, or negative errno:
 * -ENOTSUP, -ETIME or -EBADMSG (a header that we refuse), -ENOMEM, -ETIMEDOUT, another error of
 * reading, or the taker's.
 */
int jitdump_file_read(struct jitdump_file *file, struct jitdump_reader *reader,
		      uint64_t *budget_bytes, jitdump_taker_fn take, void *take_context);

/* The process has ended, and everything has been read: count what is left of a record. */
void jitdump_file_end(struct jitdump_file *file);

void jitdump_reader_deinit(struct jitdump_reader *reader);

#endif
