/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State of the live page's server, for live_server.c and server_requests.c. */
#ifndef JITBPF_AGENT_SERVER_SERVER_STATE_H
#define JITBPF_AGENT_SERVER_SERVER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/server/server_http.h"
#include "agent/server/server_message.h"

#define SERVER_WAITING_MAX 12 /* requests that are incomplete or being answered */
/* With those that are closing. */
#define SERVER_CONNECTIONS_MAX                                                                     \
	(SERVER_STREAMS_MAX + SERVER_ANSWERS_MAX + SERVER_RECORDINGS_MAX + SERVER_WAITING_MAX + 8)
#define SERVER_SECOND_NS 1000000000ull

struct connection {
	struct server *server;
	struct MHD_Connection *mhd; /* NULL: the place is free */
	uint64_t start_ns;
	int fd;	       /* MHD's */
	int stream;    /* socket from the recorder; -1: none */
	uint32_t want; /* enum server_want: what the stream has */
	size_t left;   /* bytes of an answer that may still be sent */
	bool accepted; /* the request was not refused */
	bool suspended;
	bool gone;    /* the browser has closed the connection, or its time is over */
	bool closing; /* the server has shut the connection down */
};

struct server {
	struct request_rules rules;
	char *page;
	size_t page_bytes;
	char policy[512]; /* Content-Security-Policy */
	int recorder;
	struct MHD_Daemon *daemon;
	int epoll; /* the daemon's */
	struct connection connections[SERVER_CONNECTIONS_MAX];
	uint64_t refused, reported;
	uint64_t asked_ns; /* with one answer per ASK_PERIOD_NS, the time of the next one */
	uint64_t tick_ns;  /* time of the next tick() */
	uint64_t end_ns;   /* when the server ends, since the recorder has; 0: the recorder runs */
};

#endif
