/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The page without a profile: it reads deltas (sink/live/delta_format.h), and shows them with the
 * options of a view. It contains the tables that deltas refer to by position: names of counts, and
 * texts of locations without frames.
 */
#ifndef JITBPF_SINK_FORMAT_LIVE_PAGE_H
#define JITBPF_SINK_FORMAT_LIVE_PAGE_H

#include <stdio.h>

#include "sink/view_options.h"

/* Returns 0 or the error of out. */
int live_page_write(FILE *out, const struct view_options *view);

#endif
