/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes a FRAMES chunk (uapi/recording.h), which symbolize/recorded_frames.h reads. */
#ifndef JITBPF_PIPELINE_RECORD_FRAMES_CHUNK_H
#define JITBPF_PIPELINE_RECORD_FRAMES_CHUNK_H

#include <stdint.h>

#include "base/string_pool.h"
#include "base/vec.h"
#include "locate/location.h"
#include "state/process/module_table.h"
#include "symbolize/frame_table.h"
#include "uapi/recording.h"

/* Limit for one location, which the symbolizer respects. */
#define FRAMES_CHUNK_FRAMES_MAX JITBPF_FRAMES_MAX

#define FRAMES_CHUNK_DECL_FILE_MAX 0x3fffu

/* Zero-initialized at first. The owner frees bytes. */
struct frames_chunk {
	VEC(uint8_t) bytes;
};

/*
 * Make the chunk with the frames of a NATIVE location, or of a KERNEL location (module NULL), in
 * place of the one before. frames are in `table`. Frames beyond FRAMES_CHUNK_FRAMES_MAX, text
 * beyond JITBPF_TEXT_MAX and of a decl_file beyond FRAMES_CHUNK_DECL_FILE_MAX are dropped. Returns
 * 0 or -ENOMEM.
 */
int frames_chunk_make(struct frames_chunk *chunk, const struct location *location,
		      const struct module *module, const struct string_pool *strings,
		      const struct frame_table *table, const struct frame *frames, uint32_t count);

#endif
