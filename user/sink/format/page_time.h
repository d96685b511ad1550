/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes what the page shows over time, as columns. Functions return 0 or -ENOMEM. */
#ifndef JITBPF_SINK_FORMAT_PAGE_TIME_H
#define JITBPF_SINK_FORMAT_PAGE_TIME_H

#include <stdint.h>

#include "sink/format/page_data.h"
#include "sink/sink.h"
#include "sink/write/json.h"

/* Write samples by time. rows: the row of each count, in the page. */
int page_time_write_slices(const struct page_samples *samples, const uint32_t *rows,
			   struct json *json);

/* Write loads and unloads of JIT code, and its live bytes. lane NULL: there are none. */
int page_time_write_code(const struct view *view, const struct code_lane *lane, struct json *json);

#endif
