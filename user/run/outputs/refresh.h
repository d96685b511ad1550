/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `record --refresh SEC`: writes outputs also during the recording. A thread applies the
 * deltas of a live view (sink/live) to its own profile, and writes the outputs from that.
 * The pipeline does not wait for the thread.
 */
#ifndef JITBPF_RUN_OUTPUTS_REFRESH_H
#define JITBPF_RUN_OUTPUTS_REFRESH_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/pipeline.h"
#include "run/outputs/outputs.h"

struct refresh;

/*
 * Write the outputs for which output_can_refresh() is true every period_ns, with the
 * options of `view`. outputs and pipeline are borrowed. An output that fails is reported,
 * and written again at the end only. Returns 0 or a negative errno. Sets *ret in both
 * cases; the caller destroys it.
 */
int refresh_start(const struct outputs *outputs, const struct view_options *view,
		  uint64_t period_ns, struct pipeline *pipeline, struct refresh **ret);

/*
 * On the event loop, after a round: search the lives that the thread has requested. NULL is
 * allowed.
 */
void refresh_round(struct refresh *refresh);

/*
 * Stop after the current output. Unless quiet, prints how often the thread fell behind. NULL is
 * allowed, and so is stopping twice.
 */
void refresh_stop(struct refresh *refresh, bool quiet);

/* Call it after refresh_stop() and pipeline_destroy(). NULL is allowed. */
void refresh_destroy(struct refresh *refresh);

#endif
