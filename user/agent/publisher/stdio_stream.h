/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The pending bytes of a stdio stream of another process: written to the stream, and not yet
 * written to its file by the C library. V8 never flushes its jitdump file, so the record of the
 * function that runs may stay in the buffer until the program ends.
 *
 * The stream is found through glibc's list of streams (_IO_list_all, in .dynsym of libc.so.6), by
 * the name of the file that its descriptor leads to. The first 120 bytes of FILE are the same in
 * glibc 2.31 to 2.41, since they are part of its ABI.
 *
 * Nothing in the process is trusted. Memory is read by helper processes (file_store.h), with a time
 * limit, only from this process, and only into buffers of fixed or checked size. A process that
 * forges a stream can only make up bytes, as it can in the file itself: the caller decodes both
 * alike. At most STREAMS_MAX streams are looked at, and STDIO_PENDING_MAX bytes read.
 *
 * The process runs meanwhile. The copy of the pending bytes may be torn or outdated. It is valid
 * only if the file has not grown since before the look, if the file does not end with these bytes,
 * and if they continue the file as a sequence of records. The caller checks this.
 *
 * Not found: streams of statically linked programs, of other C libraries (musl), of a second copy
 * of libc in a process (dlmopen), and of processes that inherited the file by a fork: their buffers
 * are copies of their own. What is pending is lost when the process is killed.
 *
 * Event loop only.
 */
#ifndef JITBPF_AGENT_PUBLISHER_STDIO_STREAM_H
#define JITBPF_AGENT_PUBLISHER_STDIO_STREAM_H

#include <stdint.h>

#include "agent/files/file_store.h"
#include "agent/kernel/proc/process_text.h"
#include "base/vec.h"

#define STREAMS_MAX	  256	     /* of a process; those opened last come first */
#define STDIO_PENDING_MAX (1u << 20) /* bytes; a larger buffer is not read */

typedef VEC(uint8_t) byte_vec;

struct stdio_stream {
	uint32_t pid;
	uint64_t address;    /* of its FILE; 0: not found */
	uint64_t begin, end; /* addresses of the pending bytes at the last look */
};

/*
 * Find the stream of a process whose file has a name (without its folder). Reads the maps of the
 * process into text. Returns 0 with *ret set, -ENOENT if there is none, -EINPROGRESS if there is no
 * answer yet, or another negative errno.
 */
int stdio_stream_find(struct file_store *store, process_text *text, uint32_t pid,
		      const char *file_name, struct stdio_stream *ret);

/*
 * Read where the pending bytes are. Returns 0, or negative errno: -ENOENT if there is no such
 * stream any more, or more than STDIO_PENDING_MAX bytes are pending.
 */
int stdio_stream_look(struct file_store *store, struct stdio_stream *stream);

/*
 * Append the pending bytes, as stdio_stream_look() found them, to *bytes. Returns 0; -EAGAIN if the
 * process wrote them to the file meanwhile; or negative errno. On failure *bytes is unchanged.
 */
int stdio_stream_read(struct file_store *store, struct stdio_stream *stream, byte_vec *bytes);

#endif
