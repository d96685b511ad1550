/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Emits the events of a jitdump file as records: CODE_EVENT, CODE (of new loads) and CODE_REFUSED.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JITDUMP_EMISSION_H
#define JITBPF_AGENT_PUBLISHER_JITDUMP_EMISSION_H

#include "agent/publisher/jitdump_followed.h"
#include "pipeline/source.h"

#define CODE_ROUND_BYTES (2u << 20) /* limit of copied machine code of one file in one round */

/* The state of one read of a file. */
struct jitdump_emission {
	struct jitdump_followed *followed;
	uint64_t came_ns; /* start of the run */
	uint64_t now_ns;
	uint64_t forks_ns;	/* all forks until then are known */
	uint64_t code_bytes;	/* rest of CODE_ROUND_BYTES */
	uint64_t *budget_bytes; /* of this read; records that are expensive to handle reduce it, too
				 */
	byte_vec *record;	/* buffer, reused by later calls */
	process_text *text;	/* likewise */
	record_taker_fn take;
	void *take_context;
	uint64_t late_events; /* events that came after samples of their time */
	int err;	      /* error of take() */
};

/* The functions of a struct jitdump_taker; context is a struct jitdump_emission. */
int jitdump_emit(void *context, struct code_event *event, const void *code);
bool jitdump_emit_is_ready(void *context, uint32_t inner_pid, uint64_t time_ns);

/* Emit the counts of refusals since the last call. Returns 0 or the taker's error. */
int jitdump_emit_counts(struct jitdump_emission *emission);

#endif
