/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers the live page's requests for data that deltas do not have, one after the other. The event
 * loop looks at the profile in steps, one in each round, and copies what it finds into a job; a
 * thread makes the answer of it and writes that to the browser's socket. The kinds of requests are
 * code_answer.h, methods_answer.h and packages_answer.h.
 */
#ifndef JITBPF_RUN_PAGE_LIVE_ANSWERS_H
#define JITBPF_RUN_PAGE_LIVE_ANSWERS_H

#include "agent/server/server_message.h"
#include "pipeline/pipeline.h"
#include "run/page/answer_kind.h"

#define LIVE_CODE_BYTES_MAX                                                                        \
	(16u << 20) /* machine code that is kept for it, unless it is recorded */

struct live_answers;

/*
 * sources: its source files are none so far; it is copied, and its members are borrowed, as
 * everything else is. Returns 0 or a negative errno.
 */
int live_answers_create(struct pipeline *pipeline, const struct answer_sources *sources,
			struct live_answers **ret);

/* Stops after the current answer. Before pipeline_destroy(). NULL is allowed. */
void live_answers_destroy(struct live_answers *answers);

/*
 * Write the answer to a socket, which is owned from now on. It is closed at once if too many wait,
 * or if no kind of answer is wanted: the request is the server's, and untrusted.
 */
void live_answers_ask(struct live_answers *answers, const struct server_wanted *wanted, int socket);

/* Work on the requests, after a round. */
void live_answers_round(struct live_answers *answers);

#endif
