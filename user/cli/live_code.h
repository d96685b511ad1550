/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers the live page's requests for the code of a function. The event loop finds the samples, a
 * bounded number of them in each round; a thread of its own asks a reader process for the
 * instructions and the reader of source files for lines, and writes the answer to the browser's
 * socket. The answer is a JSON object with `total`, the samples of the profile; `shown`, the number
 * of a generation; and `function`, as in sink/annotate/page_code.h, of which that generation has
 * `code`. Without samples of the function there is no answer.
 */
#ifndef JITBPF_CLI_LIVE_CODE_H
#define JITBPF_CLI_LIVE_CODE_H

#include "agent/files/source_reader.h"
#include "agent/readers/code_reader.h"
#include "agent/server/server_message.h"
#include "pipeline/pipeline.h"

#define LIVE_CODE_BYTES_MAX                                                                        \
	(16u << 20) /* machine code that is kept for it, unless it is recorded */

struct live_code;

/* Everything is borrowed. Returns 0 or a negative errno. */
int live_code_create(struct pipeline *pipeline, struct code_reader *reader,
		     struct source_reader *sources, struct live_code **ret);

/* Stops after the current answer. Before pipeline_destroy(). NULL is allowed. */
void live_code_destroy(struct live_code *code);

/* Write the answer to a socket, which is owned from now on. It is closed at once if too many wait.
 */
void live_code_ask(struct live_code *code, const struct code_wanted *wanted, int socket);

/* Work on the requests, after a round. */
void live_code_round(struct live_code *code);

#endif
