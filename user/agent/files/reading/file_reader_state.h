/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of a file reader. Only for file_reader.c and file_reader_ask.c. */
#ifndef JITBPF_AGENT_FILES_READING_FILE_READER_STATE_H
#define JITBPF_AGENT_FILES_READING_FILE_READER_STATE_H

#include "agent/files/reading/file_reader.h"

struct file_reader {
	const struct broker *broker;
	const uint64_t *turn_end_ns; /* NULL: not of the event loop */
	struct file_patience patience, servers;
	int openers, fetchers, user_openers; /* sockets to a helper; -1 if there is none */
	struct file_actor user;		     /* of the last one */
	struct place_accounts accounts;
	struct file_reply reply;
};

/*
 * Send a request, with fd (-1: none), which the caller keeps; wait, and charge the place. Returns 0
 * with the answer in reader->reply and its descriptor, owned by the caller, in *ret_fd (-1: none);
 * or a negative errno: that of the answer, or -ETIMEDOUT. For requests to find or open a file: if
 * the late answer to an earlier, equal request has arrived, it is used.
 */
int file_reader_ask(struct file_reader *reader, struct file_place place,
		    const struct file_request *request, int fd, int *ret_fd);

#endif
