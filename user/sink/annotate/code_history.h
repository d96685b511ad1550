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

#define CODE_HISTORY_MAX (1u << 20) /* changes that are kept; ends among later ones are unknown */

extern const struct sink_ops sink_code_history;

/* Returns 0 or -ENOMEM. It is for pipeline_add_live(), which takes it over. */
int code_history_create(struct sink **ret);

/*
 * Returns the time at which the region with an identity ended (CLOCK_MONOTONIC), UINT64_MAX if it
 * was live at the end of the recording, or 0 if that is not known.
 */
uint64_t code_history_end(const struct sink *history, uint64_t identity);

#endif
