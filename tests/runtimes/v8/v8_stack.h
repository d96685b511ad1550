/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frames of V8's interpreter on a native stack, for memory images. */
#ifndef JITBPF_TESTS_RUNTIMES_V8_V8_STACK_H
#define JITBPF_TESTS_RUNTIMES_V8_V8_STACK_H

#include <stdio.h>

#include "tests/runtimes/frame_text.h"

#define V8_STACK_BYTES_MAX (64u << 10)
#define V8_STACK_FRAMES	   64

/*
 * Find the frames in the stack from `start` to `end`, newest first: a word that is in a range of
 * the recipe is a return address there, and the frame pointer leads to the word below it. Returns
 * their number, at most V8_STACK_FRAMES.
 */
size_t v8_stack_frames(const struct frame_reader *reader, uint64_t start, uint64_t end,
		       struct runtime_frame *ret);

/* Write a line for each frame, as frames_write() does. Returns their number. */
size_t v8_stack_write(const struct frame_reader *reader, uint64_t start, uint64_t end, FILE *out);

#endif
