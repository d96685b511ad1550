/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Emits what is read of a jitdump file, as records: CODE_EVENT, CODE (of loads that are new) and
 * CODE_REFUSED.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JITDUMP_EMISSION_H
#define JITBPF_AGENT_PUBLISHER_JITDUMP_EMISSION_H

#include "agent/publisher/jitdump_followed.h"
#include "pipeline/source.h"

#define CODE_ROUND_BYTES (512u << 10) /* copies of machine code, of one file in one round */

/* One reading of a file. */
struct jitdump_emission {
	struct jitdump_followed *followed;
	uint64_t came_ns; /* start of the run */
	uint64_t now_ns;
	uint64_t code_bytes; /* of CODE_ROUND_BYTES, what is left */
	byte_vec *record;    /* room, kept from call to call */
	process_text *text;  /* likewise */
	record_taker_fn take;
	void *take_context;
	uint64_t late_events; /* written later than samples of their time were taken in */
	int err;	      /* the taker's */
};

/* A jitdump_taker_fn over a struct jitdump_emission. */
int jitdump_emit(void *context, struct code_event *event, const void *code);

/* Emit what has been refused since the last time. Returns 0 or the taker's error. */
int jitdump_emit_counts(struct jitdump_emission *emission);

#endif
