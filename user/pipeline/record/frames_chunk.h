/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes a FRAMES chunk (uapi/recording.h), which symbolize/recorded_frames.h reads. */
#ifndef JITBPF_PIPELINE_RECORD_FRAMES_CHUNK_H
#define JITBPF_PIPELINE_RECORD_FRAMES_CHUNK_H

#include <stdint.h>

#include "base/string_pool.h"
#include "locate/location.h"
#include "pipeline/record/chunk_writer.h"
#include "state/process/module_table.h"
#include "symbolize/frame_table.h"

/* Limit for one location, which the symbolizer respects. */
#define FRAMES_CHUNK_FRAMES_MAX 64

/*
 * Write the frames of a NATIVE location, or of a KERNEL location (module NULL). Frames beyond
 * FRAMES_CHUNK_FRAMES_MAX and text beyond JITBPF_TEXT_MAX are dropped. Returns 0, or the writer's
 * first error.
 */
int frames_chunk_put(struct chunk_writer *writer, const struct location *location,
		     const struct module *module, const struct string_pool *strings,
		     const struct frame *frames, uint32_t count);

#endif
