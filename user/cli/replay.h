/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording that a command shows: opened, and replayed through a pipeline. */
#ifndef JITBPF_CLI_REPLAY_H
#define JITBPF_CLI_REPLAY_H

#include <stdbool.h>

#include "base/blob.h"
#include "pipeline/pipeline.h"
#include "run/messages/status_line.h"
#include "symbolize/symbolizer.h"

struct file_store;

/* Zero-initialized is valid for replay_close(). */
struct replay {
	const char *path; /* borrowed */
	struct blob blob;
	struct file_store *files;
	struct symbolizer *symbolizer;
	struct symbolize_now now;
	struct pipeline *pipeline; /* sinks may be added before replay_run() */
	struct status_line status;
	const char *event; /* the event to show, as in struct view_options */
	bool damaged;	   /* the recording was read up to damage, or an error; that part is used */
};

struct replay_code {
	const struct page_extra *extra; /* for pages, borrowed; NULL: none */
};

/*
 * Open a recording. path, line_rules and what filter borrows must outlive the
 * replay. view is copied; NULL shows everything. debuginfod: query servers for
 * names that the recording lacks. code: the view has the recorded machine code; NULL: it has none.
 * max_bytes: as --max-memory. Prints a message on errors. Returns 0 or a negative errno; the caller
 * calls replay_close() in any case.
 */
int replay_open(struct replay *replay, const char *path, const struct sample_filter *filter,
		const struct view_options *view, const struct code_line_rules *line_rules,
		bool debuginfod, const struct replay_code *code, uint64_t max_bytes);

/*
 * Replay the recording, finish the pipeline, which completes its view, and close the recording.
 * Prints a message on errors. Damage in the recording, and a failure to read on, set `damaged`, and
 * are an error only if the description of the run was not read. Returns 0 or a negative errno.
 */
int replay_run(struct replay *replay);

void replay_close(struct replay *replay);

#endif
