/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages between the recorder and the live page's server (agent/roles/fd_message.h). */
#ifndef JITBPF_AGENT_SERVER_SERVER_MESSAGE_H
#define JITBPF_AGENT_SERVER_SERVER_MESSAGE_H

#include <stdint.h>

#include "decode/text/page_request.h"
#include "sink/view_options.h"

/* The first and only message of the recorder. Its descriptor is the listening socket. */
struct server_start {
	struct request_rules rules;
	struct view_options view;
	char event[EVENT_NAME_BYTES]; /* view.event; "": CPU time */
};

#define SERVER_STREAMS_MAX 20

#define SERVER_ANSWERS_MAX 4 /* requests for answers that wait */

#define SERVER_RECORDINGS_MAX 2 /* copies of the recording that are sent at a time */

/*
 * What a browser wants. Each delta comes after its size in bytes (uint32_t, little-endian); size 0
 * ends the run. A copy of the recording (run/outputs/recording_copies.h) comes after its size in
 * bytes (uint64_t, little-endian). Others have an answer: a JSON object (run/page/code_answer.h,
 * run/page/methods_answer.h, run/page/packages_answer.h). A copy or answer that is not possible is
 * empty.
 */
enum server_want {
	SERVER_WANTS_DELTAS,
	SERVER_WANTS_CODE,
	SERVER_WANTS_METHODS,
	SERVER_WANTS_PACKAGES,
	SERVER_WANTS_RECORDING,
	SERVER_WANTS_COUNT
};

struct server_wanted {
	uint32_t want;		/* enum server_want; any number is possible */
	union data_wanted data; /* of code and methods */
};

/* From the server. With a descriptor, a browser wants data, which the recorder writes to it. */
struct server_report {
	uint64_t refused; /* requests and connections so far */
	struct server_wanted wanted;
};

#endif
