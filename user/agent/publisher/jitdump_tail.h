/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tail of a jitdump file: the bytes that its process holds in a stdio buffer. They follow the
 * end of the file, unless the process is writing them to the file at the time. Only for
 * jitdump_file.c.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JITDUMP_TAIL_H
#define JITBPF_AGENT_PUBLISHER_JITDUMP_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/publisher/jitdump_file.h"

/* State of a call of jitdump_file_read(). Zero-initialized: the buffer was not read yet. */
struct jitdump_tail {
	uint64_t past_bytes; /* at this size, the file has all that was written before the call */
};

/*
 * Set *ret to the number of bytes that the process holds; 0 if it has no stdio buffer. Returns 0;
 * -ETIMEDOUT or -EINPROGRESS if its memory could not be read in time; or -ENOMEM.
 */
int jitdump_tail_pending(struct jitdump_file *file, struct jitdump_reader *reader, uint64_t *ret);

/*
 * Append the tail to the room, which ends at the end of the file. Returns 0; -EAGAIN if the process
 * wrote to the file or to its buffer meanwhile: read the file again; -ETIMEDOUT or -EINPROGRESS if
 * a part could not be read in time; or -ENOMEM. On failure the room is unchanged.
 */
int jitdump_tail_read(struct jitdump_file *file, struct jitdump_reader *reader,
		      struct jitdump_tail *tail);

/* Returns true if the file, as it was last read, has all that was written before the call. */
bool jitdump_tail_is_past(const struct jitdump_file *file, const struct jitdump_tail *tail);

/*
 * Returns the size of the longest beginning of tail that the end of a file ends with. borders has
 * room for tail_bytes numbers.
 */
size_t jitdump_tail_overlap(const uint8_t *end, size_t end_bytes, const uint8_t *tail,
			    size_t tail_bytes, uint32_t *borders);

#endif
