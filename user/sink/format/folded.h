/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The text of frames in folded stacks, of profiles and differences. */
#ifndef JITBPF_SINK_FORMAT_FOLDED_H
#define JITBPF_SINK_FORMAT_FOLDED_H

#include "sink/frame_text.h"
#include "sink/write/text.h"

/* Append a frame, with the suffix of its kind ("_[j]"). */
void folded_put_frame(struct text *text, const struct frame_text *frame);

/* Append a process. */
void folded_put_process(struct text *text, const char *comm);

#endif
