/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the recorder and the live page's server say to each other (agent/roles/fd_message.h). */
#ifndef JITBPF_AGENT_SERVER_SERVER_MESSAGE_H
#define JITBPF_AGENT_SERVER_SERVER_MESSAGE_H

#include <stdint.h>

#include "agent/server/request_check.h"
#include "sink/view_options.h"

/* The first and only message of the recorder. Its descriptor is the listening socket. */
struct server_start {
	struct request_rules rules;
	struct view_options view;
};

#define SERVER_STREAMS_MAX 20

#define SERVER_ANSWERS_MAX 4 /* requests for code that wait */

/*
 * From the server. With a descriptor, a browser wants data, which the recorder writes to it:
 * deltas, or the code of a function if `wants_code`. Each delta comes after its size in bytes
 * (uint32_t, little-endian); size 0 ends the run. Code is a JSON object (cli/live_code.h), or
 * nothing if there is none.
 */
struct server_report {
	uint64_t refused; /* requests and connections so far */
	uint32_t wants_code;
	struct code_wanted code;
};

#endif
