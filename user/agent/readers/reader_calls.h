/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Serves a reader's calls for files, in the recorder. The reader is not trusted:
 * it may open the files of the module that it was asked about, and debug files,
 * which must be ELF.
 */
#ifndef JITBPF_AGENT_READERS_READER_CALLS_H
#define JITBPF_AGENT_READERS_READER_CALLS_H

#include "agent/readers/reader_channel.h"
#include "agent/readers/reader_message.h"
#include "state/process/file_source.h"

struct reader_calls {
	struct file_source source;
	struct blob files[READER_FILES_MAX]; /* open, other than direct ones; read NULL: free */
};

/* A call was received. Returns 0, or a negative errno if the reader must be ended. */
int reader_calls_serve(struct reader_calls *calls, int socket, int kind, const message_bytes *call,
		       const struct module *module, const struct reader_limit *limit);

/* Close the files of a reader that has ended. */
void reader_calls_close(struct reader_calls *calls);

#endif
