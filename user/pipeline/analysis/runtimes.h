/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of runtimes in the analysis, and in recordings. A recording gets a function before
 * its first sample with it. So it has the functions of its samples only, and each file of a run
 * that rotates has all that it needs.
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_RUNTIMES_H
#define JITBPF_PIPELINE_ANALYSIS_RUNTIMES_H

#include "pipeline/analysis/analysis_state.h"
#include "pipeline/finished_records.h"

/*
 * Apply a RUNTIME_FUNCTION record. A number that describes two functions is a malformed record, and
 * stays that of the first. Returns 0 or -ENOMEM.
 */
int analysis_take_runtime_function(struct analysis *a,
				   const struct jitbpf_runtime_function *record);

/*
 * Call it before a sample is written to the recording of an epoch (by number). Passes the functions
 * of its frames to `to` that the recording does not have yet. Returns 0, -ENOMEM or the first error
 * of the receiver.
 */
int analysis_record_functions(struct analysis *a, uint32_t epoch,
			      const struct jitbpf_sample *sample, struct record_receiver to);

#endif
