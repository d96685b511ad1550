/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the summary says "to look into": code and names that lack, and counts that should be 0. */
#ifndef JITBPF_SINK_FORMAT_SUMMARY_TROUBLE_H
#define JITBPF_SINK_FORMAT_SUMMARY_TROUBLE_H

#include <stdbool.h>

#include "sink/sink.h"
#include "sink/write/text.h"

#define SUMMARY_SHARE 10 /* missing code and names are reported from 1/10 of all samples on */

/* Returns the command that was run with the environment of engines; "" if there was none. */
const char *summary_command(const struct view *view);

/* Put this part of the summary with its heading. Returns true if there is any of it. */
bool summary_trouble_put(struct text *text, const struct view *view);

#endif
