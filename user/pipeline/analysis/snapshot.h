/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A snapshot: finished records that describe the state as of the last round: processes with their
 * names, executable mappings, live JIT code, and generated kernel code. A recording that begins
 * with a snapshot replays alone.
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_SNAPSHOT_H
#define JITBPF_PIPELINE_ANALYSIS_SNAPSHOT_H

#include "pipeline/analysis/analysis.h"

/*
 * Call take for each record, which is borrowed. All have the time of the last round. Returns 0,
 * -ENOMEM, or the first error of take.
 */
int analysis_snapshot(const struct analysis *analysis,
		      int (*take)(void *context, const struct jitbpf_record *record),
		      void *context);

#endif
