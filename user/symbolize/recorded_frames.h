/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames stored in a recording's FRAMES chunks. Frames are found by the
 * identity of a location (module identity and offset, or kernel address), not
 * by its number, which differs from run to run.
 */
#ifndef JITBPF_SYMBOLIZE_RECORDED_FRAMES_H
#define JITBPF_SYMBOLIZE_RECORDED_FRAMES_H

#include <stdint.h>

#include "base/hash.h"
#include "state/process/module_table.h"
#include "symbolize/frame_table.h"
#include "uapi/recording.h"

#define RECORDED_FRAMES_BYTES_MAX (256u << 20) /* limit of all chunks that are kept */

struct recorded_frames; /* see recorded_frames.c */

/*
 * Returns the member `inode` of a FRAMES chunk for a module: its inode, or a hash of inode and
 * generation.
 */
static inline uint64_t recorded_frames_inode(const struct module *module)
{
	return module->inode_generation ? hash_mix(module->inode, module->inode_generation)
					: module->inode;
}

/* strings is borrowed; it must be the pool of the frame table to fill. Returns 0 or -ENOMEM. */
int recorded_frames_create(struct string_pool *strings, struct recorded_frames **ret);
void recorded_frames_destroy(struct recorded_frames *recorded);

/*
 * Add a FRAMES chunk; it is copied. If the location has frames already, these are kept. Returns 0,
 * -EBADMSG (inconsistent sizes; nothing is added) or -ENOMEM. A chunk over the budget or with an
 * unknown kind of location is skipped and counted, without an error.
 */
int recorded_frames_add(struct recorded_frames *recorded, const struct jitbpf_frames_chunk *chunk);

/*
 * Returns the frames of a location and sets *ret_count to their number; NULL
 * and 0 if the recording has none. module is the module of a NATIVE location,
 * else NULL. The result is borrowed until the next recorded_frames_add().
 */
const struct frame *recorded_frames_find(const struct recorded_frames *recorded,
					 const struct location *location,
					 const struct module *module, uint32_t *ret_count);

/* Returns the number of skipped chunks. */
uint64_t recorded_frames_left_out(const struct recorded_frames *recorded);

#endif
