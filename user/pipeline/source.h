/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where records come from: the live kernel (agent/live/live_source.h) or a recording
 * (replay_source.h). Both hand over the same records, so that live and offline
 * cannot differ.
 */
#ifndef JITBPF_PIPELINE_SOURCE_H
#define JITBPF_PIPELINE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/record.h"

/* Takes one whole record, borrowed. Returns 0 or negative errno, which ends the round. */
typedef int (*record_taker_fn)(void *context, const struct jitbpf_record *record);

/* What a source says after handing over records. */
enum source_state {
	SOURCE_END = 0,	  /* there is no more; what was handed over is a round */
	SOURCE_ROUND = 1, /* a round is complete */
	SOURCE_OPEN = 2,  /* the round goes on with the next call */
};

struct source {
	/*
	 * Hand over what there is. Returns an enum source_state, with *ret_time_ns
	 * set where a round ends to when its drain began, or negative errno.
	 */
	int (*drain)(void *context, record_taker_fn take, void *take_context,
		     uint64_t *ret_time_ns);
	void *context;
	bool finished; /* its records are finished (pipeline/finished_records.h), and in order */
};

#endif
