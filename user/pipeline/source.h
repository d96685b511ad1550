/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The source of records: the live kernel (agent/live/live_source.h) or a recording
 * (replay_source.h).
 */
#ifndef JITBPF_PIPELINE_SOURCE_H
#define JITBPF_PIPELINE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/record.h"

/* Takes one record, which is borrowed. Returns 0, or a negative errno, which ends the round. */
typedef int (*record_taker_fn)(void *context, const struct jitbpf_record *record);

/* The result of draining a source. */
enum source_state {
	SOURCE_END = 0,	  /* no more records; those delivered so far complete a round */
	SOURCE_ROUND = 1, /* a round is complete */
	SOURCE_OPEN = 2,  /* the next call continues the round */
};

struct source {
	/*
	 * Deliver the available records. Returns an enum source_state, or a negative errno. If a
	 * round ends, *ret_time_ns is the time at which its drain began.
	 */
	int (*drain)(void *context, record_taker_fn take, void *take_context,
		     uint64_t *ret_time_ns);
	void *context;
	bool finished; /* its records are finished (pipeline/finished_records.h), and in order */
};

#endif
