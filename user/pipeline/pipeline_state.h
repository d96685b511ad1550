/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State of a run, for pipeline.c, pipeline_recorders.c and their tests. */
#ifndef JITBPF_PIPELINE_PIPELINE_STATE_H
#define JITBPF_PIPELINE_PIPELINE_STATE_H

#include "pipeline/analysis/analysis_state.h"
#include "pipeline/intake/intake_state.h"
#include "pipeline/pipeline.h"

/* The recorder of a closing epoch. */
struct closing_recorder {
	uint64_t until_ns;	   /* it gets records up to this time */
	uint32_t epoch;		   /* its number */
	struct recorder *recorder; /* borrowed */
	int error;
};

struct pipeline {
	struct intake *intake;
	struct analysis *analysis;
	struct recorder *recorder; /* of the current round */
	int recorder_error;
	bool records_code;		      /* JITBPF_KEPT_CODE records */
	bool only_sampled;		      /* as in struct analysis_options */
	VEC(struct closing_recorder) closing; /* oldest first */
	uint64_t malformed;		      /* records of a recording that are not finished */
	uint64_t malformed_counted;	      /* of all malformed records, in the ledger */
};

/*
 * Write a record. A sample goes to the recorder of its epoch. Other records go to the current
 * recorder. A late record also goes to the closing recorders, whose deferred samples depend on it.
 * Only the oldest of these recordings counts it. A failure affects one recorder only.
 */
void pipeline_write_record(struct pipeline *p, const struct jitbpf_record *record, uint16_t flags);

#endif
