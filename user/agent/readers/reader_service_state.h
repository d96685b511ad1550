/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the parts of reader_service.c share. */
#ifndef JITBPF_AGENT_READERS_READER_SERVICE_STATE_H
#define JITBPF_AGENT_READERS_READER_SERVICE_STATE_H

#include "agent/readers/reader_files.h"
#include "agent/readers/reader_message.h"
#include "agent/workers/unwind_files.h"

struct symbolizer;

struct reader {
	struct reader_files files;
	struct symbolizer *symbolizer;
	struct unwind_files *unwinding;
	struct unwind_maker maker;
	message_bytes request, answer;
};

/* Send reader->answer. Returns 0 or a negative errno. */
int reader_send_answer(struct reader *reader, enum reader_message kind);

/* Answer READER_ANNOTATE, which reader->request holds. Returns 0, -EBADMSG for a request that is
 * wrong, or another negative errno. */
int reader_annotate(struct reader *reader);

#endif
