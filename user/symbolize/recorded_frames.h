/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names that a recording carries: from FRAMES chunks to the frames of a
 * location, looked up by what the location is (module identity and offset, or
 * kernel address), not by its number.
 */
#ifndef JITBPF_SYMBOLIZE_RECORDED_FRAMES_H
#define JITBPF_SYMBOLIZE_RECORDED_FRAMES_H

#include <stdint.h>

#include "state/process/module_table.h"
#include "symbolize/frame_table.h"
#include "uapi/recording.h"

#define RECORDED_FRAMES_BYTES_MAX (256u << 20) /* of all chunks that are taken */

struct recorded_frames; /* see recorded_frames.c */

/*
 * strings outlives it, and is the pool of the frame table to be filled.
 * Returns 0 or -ENOMEM.
 */
int recorded_frames_create(struct string_pool *strings, struct recorded_frames **ret);
void recorded_frames_destroy(struct recorded_frames *recorded);

/*
 * Take a FRAMES chunk. Where a location has frames already, they stay. Copies.
 * Returns 0, -EBADMSG (its parts do not fit into it; nothing is taken) or
 * -ENOMEM. A chunk that is over the budget, or of a kind of locations that is
 * not known, is left out and counted, which is no error.
 */
int recorded_frames_add(struct recorded_frames *recorded, const struct jitbpf_frames_chunk *chunk);

/*
 * Frames of a location; module is that of a NATIVE one, else NULL. NULL, with
 * *ret_count 0, where the recording has none. Borrowed until the next add.
 */
const struct frame *recorded_frames_find(const struct recorded_frames *recorded,
					 const struct location *location,
					 const struct module *module, uint32_t *ret_count);

/* Chunks left out so far. */
uint64_t recorded_frames_left_out(const struct recorded_frames *recorded);

#endif
