/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording as a source. */
#ifndef JITBPF_PIPELINE_RECORD_REPLAY_SOURCE_H
#define JITBPF_PIPELINE_RECORD_REPLAY_SOURCE_H

#include "decode/recording/recording_reader.h"
#include "pipeline/source.h"

struct replay_source {
	struct recording_reader *reader; /* borrowed */
	struct recording_error error;	 /* set if drain() returned -EBADMSG */
};

/* *ret borrows replay. */
void replay_source_init(struct replay_source *replay, struct recording_reader *reader,
			struct source *ret);

#endif
