/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording that a command shows: opened, and run through a pipeline of its own. */
#ifndef JITBPF_CLI_REPLAY_H
#define JITBPF_CLI_REPLAY_H

#include <stdbool.h>

#include "base/blob.h"
#include "cli/status_line.h"
#include "pipeline/pipeline.h"
#include "symbolize/symbolizer.h"

struct file_store;

/* Zero-initialized holds nothing. */
struct replay {
	const char *path; /* borrowed */
	struct blob blob;
	struct file_store *files;
	struct symbolizer *symbolizer;
	struct symbolize_now now;
	struct pipeline *pipeline; /* sinks may be added before replay_run() */
	struct status_line status;
	bool damaged; /* what precedes the damage is there all the same */
};

/*
 * Open a recording. path, line_rules and what filter borrows outlive the replay;
 * view is copied, NULL shows everything. debuginfod: servers may be asked for what the
 * recording has no names for. Says itself what is wrong. Returns 0 or negative
 * errno; replay_close() is due in both cases.
 */
int replay_open(struct replay *replay, const char *path, const struct sample_filter *filter,
		const struct view_options *view, const struct code_line_rules *line_rules,
		bool debuginfod);

/*
 * Run all of it through the pipeline and finish that: its view is complete then.
 * Says itself what is wrong; damage in the middle is no error, but sets damaged.
 * Returns 0 or negative errno.
 */
int replay_run(struct replay *replay);

void replay_close(struct replay *replay);

#endif
