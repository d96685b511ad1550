/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When JIT code was loaded and when it ended, as a sink that gets the changes of code during a
 * replay. Code ends when it is unloaded, or when a load replaces a part of it.
 */
#ifndef JITBPF_SINK_ANNOTATE_CODE_HISTORY_H
#define JITBPF_SINK_ANNOTATE_CODE_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "sink/sink.h"

#define CODE_HISTORY_MAX      (1u << 20) /* changes that are kept of a recording */
#define CODE_HISTORY_LIVE_MAX (1u << 16) /* the same of a run */

extern const struct sink_ops sink_code_history;

/*
 * Keep up to max changes; ends among later ones are unknown. Returns 0 or -ENOMEM. It is for
 * pipeline_add_live(), which takes it over.
 */
int code_history_create(size_t max, struct sink **ret);

/*
 * Returns the time at which the region with an identity ended (CLOCK_MONOTONIC), UINT64_MAX if it
 * was live at the end of the recording, or 0 if that is not known.
 */
uint64_t code_history_end(const struct sink *history, uint64_t identity);

#endif
