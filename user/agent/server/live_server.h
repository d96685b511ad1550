/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The server of the live page: a process of ROLE_SERVER with one thread. It serves the page, and
 * copies bytes from the recorder's sockets (server_message.h) to the browsers. It parses nothing
 * but requests, and holds no part of the profile.
 *
 * A browser that reads slowly fills up its own socket; the recorder's queue for it then drops what
 * is old (agent/workers/live_feed.h). The response is a stream of binary deltas instead of
 * server-sent events, which would have to be text: a third longer, and encoded here.
 */
#ifndef JITBPF_AGENT_SERVER_LIVE_SERVER_H
#define JITBPF_AGENT_SERVER_LIVE_SERVER_H

/*
 * Load libmicrohttpd, for the servers that the broker starts: a server cannot read files. Before
 * the broker is started. Returns 0, or -ENOSYS if it is not installed.
 */
int live_server_load(void);

/* A role_fn. Ends when the recorder's end is closed and the browsers have read the rest, or soon
 * after. */
void live_server_run(int socket);

#endif
