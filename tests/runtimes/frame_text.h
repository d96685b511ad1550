/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The text of runtime frames, for the tools that write memory images and for tests of images. */
#ifndef JITBPF_TESTS_RUNTIMES_FRAME_TEXT_H
#define JITBPF_TESTS_RUNTIMES_FRAME_TEXT_H

#include <stdio.h>

#include "runtimes/runtime_frames.h"
#include "runtimes/runtime_reader.h"

struct frame_reader {
	const struct runtime_reader *reader;
	struct process_memory memory;
	struct runtime_recipe recipe;
	struct runtime_layout layout;
	struct engine_version version;
};

/*
 * Read the function of a frame, and compare its check with the frame's. Returns 0, -ENOENT (frames
 * are missing here, or an entry that is a mark), -ESTALE (the checks differ) or the reader's error.
 */
int frame_function(const struct frame_reader *reader, const struct runtime_frame *frame,
		   struct runtime_function *ret);

/*
 * Write a line for a frame: "function file:line", "mark", "[frames are missing]", or "?" and an
 * error; then " [entry]" for an entry.
 */
void frame_write(const struct frame_reader *reader, const struct runtime_frame *frame, FILE *out);

/*
 * Write a line for each frame of a thread, newest first. If the walk ends with an error, a
 * last line has it. Returns the number of frames.
 */
size_t frames_write(const struct frame_reader *reader, const struct runtime_thread *thread,
		    FILE *out);

/* Returns the same as text, which the caller frees, or NULL. */
char *frames_text(const struct frame_reader *reader, const struct runtime_thread *thread,
		  size_t *ret_count);

#endif
