/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The process that draws `jitbpf top`. It gets the deltas of the profile from the recorder over a
 * socket, as browsers of the live page do, and reads keys. The names that it draws are untrusted,
 * so it has no rights once it has opened the terminal (ROLE_VIEWER).
 *
 * The recorder is its parent. The viewer restores the terminal when it ends, and when the recorder
 * ends in whatever way; if the viewer is killed, the recorder restores the terminal.
 */
#ifndef JITBPF_AGENT_TERMINAL_TOP_VIEWER_H
#define JITBPF_AGENT_TERMINAL_TOP_VIEWER_H

#include <stdint.h>

#include "sink/view_options.h"

#define RESTORING_BYTES 256

enum viewer_order {
	VIEWER_SHOW,  /* with the socket of the deltas; answered */
	VIEWER_LEAVE, /* the terminal is needed; answered */
	VIEWER_ENTER, /* it is free again */
	VIEWER_ENDED, /* the profiled command or processes have ended */
	VIEWER_QUIT,  /* ends the viewer */
};

/* A message of the recorder, over a socket of fd_message.h. */
struct viewer_request {
	enum viewer_order order;
	struct view_options view;     /* with VIEWER_SHOW */
	char event[EVENT_NAME_BYTES]; /* view.event; "": CPU time */
	uint64_t window_ns;	      /* the same: of top_ui_set_window() */
};

/* The answer; the first one comes without a request, after the library was loaded. */
struct viewer_answer {
	int32_t err; /* 0 or a negative errno: -ENOSYS no library, -ENOTTY unknown terminal */
	uint32_t restoring_bytes;
	char restoring[RESTORING_BYTES]; /* what restores the screen; to VIEWER_SHOW */
};

/* Exit statuses. */
#define VIEWER_BY_USER 0 /* the user ends the run */
#define VIEWER_FAILED  1

/*
 * Run the viewer in a forked process, which must have one thread. Standard input and output are the
 * terminal.
 */
_Noreturn void top_viewer_run(int socket);

#endif
