/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stdio stream of another process: what it has written to the stream and the C library has not
 * yet written to the file. Works for programs that share glibc, whose layout of FILE is part of its
 * ABI; it is read by the list of all streams (_IO_list_all).
 *
 * Event loop only. The other process runs meanwhile, and its memory is not trusted.
 */
#ifndef JITBPF_AGENT_PUBLISHER_STDIO_STREAM_H
#define JITBPF_AGENT_PUBLISHER_STDIO_STREAM_H

#include <stdint.h>

#include "agent/files/file_store.h"
#include "agent/kernel/process_text.h"
#include "base/vec.h"

#define STDIO_PENDING_MAX (1u << 20) /* bytes; a larger buffer is not read */

typedef VEC(uint8_t) byte_vec;

struct stdio_stream {
	uint32_t pid;
	uint64_t address;    /* of its FILE; 0: it has not been found */
	uint64_t begin, end; /* addresses of what is pending, as last read */
};

/*
 * Find the stream of a process over a file of that name (without its folder). Reads the maps of the
 * process through text. Returns 0 with *ret set, -ENOENT if there is none, or negative errno.
 */
int stdio_stream_find(struct file_store *store, process_text *text, uint32_t pid,
		      const char *file_name, struct stdio_stream *ret);

/*
 * Read where the pending bytes are. Returns 0, or negative errno: -ENOENT if the stream has been
 * closed.
 */
int stdio_stream_look(struct file_store *store, struct stdio_stream *stream);

/*
 * Append the pending bytes, as stdio_stream_look() found them, to *bytes. Returns 0; -EAGAIN if the
 * process wrote them to the file meanwhile; or negative errno. On failure *bytes is unchanged.
 */
int stdio_stream_read(struct file_store *store, struct stdio_stream *stream, byte_vec *bytes);

#endif
