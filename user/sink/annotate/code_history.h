/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lives of JIT code (sink/timeline/code_lives.h) as a sink: of a replay, or of a run. */
#ifndef JITBPF_SINK_ANNOTATE_CODE_HISTORY_H
#define JITBPF_SINK_ANNOTATE_CODE_HISTORY_H

#include <stdint.h>

#include "sink/timeline/code_lives.h"

extern const struct sink_ops sink_code_history;

/* max_bytes: CODE_LIVES_MAX or CODE_LIVES_LIVE_MAX. Returns 0 or -ENOMEM. It is for
 * pipeline_add_live(), which takes it over. */
int code_history_create(uint64_t max_bytes, struct sink **ret);

const struct code_lives *code_history_lives(const struct sink *history);

/*
 * Returns the time at which the region with an identity ended (CLOCK_MONOTONIC), UINT64_MAX if it
 * was live at the end of the recording, or 0 if that is not known.
 */
uint64_t code_history_end(const struct sink *history, uint64_t identity);

#endif
