/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How folded stacks write a frame: for all outputs of that kind. */
#ifndef JITBPF_SINK_FORMAT_FOLDED_H
#define JITBPF_SINK_FORMAT_FOLDED_H

#include "sink/frame_text.h"
#include "sink/write/text.h"

/* A frame with the suffix of its kind. */
void folded_put_frame(struct text *text, const struct frame_text *frame);

/* A process. */
void folded_put_process(struct text *text, const char *comm);

#endif
