/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `record --live`: the recorder's side of the live page. The page's server is a process of its own
 * (agent/server/live_server.h). Nothing here waits for it, but for the last bytes at the end. While
 * no browser is connected, no deltas are written.
 */
#ifndef JITBPF_RUN_PAGE_LIVE_PAGE_H
#define JITBPF_RUN_PAGE_LIVE_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/roles/broker.h"
#include "pipeline/pipeline.h"
#include "run/outputs/recording_copies.h"
#include "run/page/answer_kind.h"

struct live_page;

/*
 * Listen on 127.0.0.1, on the first free port from `port` on (0: the default). Call it before
 * privileges are dropped. Prints a message on errors. Returns 0 or a negative errno. Sets *ret in
 * both cases; the caller destroys it.
 */
int live_page_listen(uint32_t port, struct live_page **ret);

/* The parts of the run that the page uses. Borrowed; view is copied. */
struct live_page_run {
	const struct broker *broker;
	struct pipeline *pipeline;
	const struct view_options *view;
	struct answer_sources sources; /* as for live_answers_create() */
};

/* Start the server, and print the page's address. Returns as above. */
int live_page_start(struct live_page *page, const struct live_page_run *run);

/* Readable when the server has a request for the next live_page_round(). -1: none. */
int live_page_fd(const struct live_page *page);
/* page: NULL is allowed. now: what a browser that saves the recording gets a copy of. */
void live_page_round(struct live_page *page, const struct written_recording *now);

/*
 * The pipeline is finished: let the browsers read the rest, for a bounded time. Unless quiet,
 * prints what was refused and dropped. NULL is allowed, and so is ending twice.
 */
void live_page_end(struct live_page *page, bool quiet);

/* Call it after live_page_end() and pipeline_destroy(). NULL is allowed. */
void live_page_destroy(struct live_page *page);

#endif
