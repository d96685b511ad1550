/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Follows one jitdump file: each reading continues where the last one stopped, while the process
 * writes. Records that the process holds in a stdio buffer are read from its memory
 * (stdio_stream.h): V8 writes the last records when the program ends, or never.
 *
 * Event loop only. Accesses to files have the time limits of file_store.h.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JITDUMP_FILE_H
#define JITBPF_AGENT_PUBLISHER_JITDUMP_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/files/file_store.h"
#include "agent/kernel/proc/process_text.h"
#include "agent/publisher/stdio_stream.h"
#include "decode/media/jitdump_event.h"

/* Counts since the file was opened. */
struct jitdump_counts {
	uint64_t malformed;   /* records */
	uint64_t incomplete;  /* the file ended inside a record */
	uint64_t over_budget; /* records larger than JITDUMP_RECORD_MAX */
	uint64_t unreadable;  /* times that the file was truncated, or became invalid */
	uint64_t foreign;     /* records of unknown processes */
};

struct jitdump_file {
	struct jitbpf_mapping *mapping; /* of the file; owned */
	struct followed_file file;	/* found.fd -1: not open */
	uint64_t offset;		/* of the next record; may be past the end of the file */
	uint64_t file_bytes;		/* the largest size so far */
	uint64_t resume_offset;		/* of the next record before the file was truncated */
	bool begun;			/* the header has been read */
	bool given_up;			/* the rest of the file cannot be decoded */
	bool waits;			/* the taker is not ready for the next record */
	uint8_t stream_tries;
	struct stdio_stream stream;
	struct jitdump_events events;
	struct jitdump_counts counts;
};

/* Buffers that readings of several files share. See jitdump_reader_deinit(). */
struct jitdump_reader {
	struct file_store *store;
	process_text text;
	byte_vec room, tail, end;
	VEC(uint32_t) borders;
};

/*
 * Returns true for the path of a jitdump file: jit-PID.dump, or jit-TID-PID.dump. Sets *ret_pid to
 * PID, which is in the pid namespace of the process.
 */
bool jitdump_file_has_name(const char *path, uint32_t *ret_pid);

/* Copies the mapping. Returns 0, after which jitdump_file_deinit() is needed, or -ENOMEM. */
int jitdump_file_init(struct jitdump_file *ret, const struct jitbpf_mapping *mapping);
void jitdump_file_deinit(struct jitdump_file *file);

/*
 * Open the file, if it is regular and belongs to the user of the process or to root. If the process
 * has ended, its user is not known, and its pid is taken from the file name. Returns 0, -ENXIO (the
 * file belongs to a parent of the process), -EPERM (another user's file), or another negative
 * errno.
 */
int jitdump_file_open(struct jitdump_file *file, struct jitdump_reader *reader, bool ended);

struct jitdump_taker {
	/* Take an event and, for a LOAD, its code; both borrowed. Returns 0 or a negative errno. */
	int (*take)(void *context, struct code_event *event, const void *code);
	/*
	 * Returns false if a LOAD or MOVE must stay in the file until a later call, because its
	 * writer is not known yet. pid is as the process sees itself. May be NULL: all are taken.
	 */
	bool (*is_ready)(void *context, uint32_t pid, uint64_t time_ns);
	void *context;
};

#define JITDUMP_WAITS 2 /* the taker is not ready for the next record */

/*
 * Deliver the events of all complete records, until about *budget_bytes were read, which is reduced
 * by the bytes read. Returns 1 if there is more, 0 if not, JITDUMP_WAITS, or a negative errno:
 * -EINPROGRESS (what the process holds was not read in time: call it again), -ENOTSUP, -ETIME or
 * -EBADMSG (the header is refused), -ENOMEM, -ETIMEDOUT, another error of reading, or the taker's.
 */
int jitdump_file_read(struct jitdump_file *file, struct jitdump_reader *reader,
		      uint64_t *budget_bytes, const struct jitdump_taker *taker);

/* After the process has ended and all was read: count an incomplete last record. */
void jitdump_file_end(struct jitdump_file *file);

void jitdump_reader_deinit(struct jitdump_reader *reader);

#endif
