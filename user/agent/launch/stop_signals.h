/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a run is told to end: the first SIGINT, SIGTERM or SIGHUP is something to
 * read, so that the event loop ends in order and writes; from release on they
 * kill, as they always do. A SIGHUP that is ignored (nohup) stays so. SIGPIPE is
 * ignored: a reader that has gone is an error of writing, and no reason to leave
 * the other outputs half written.
 */
#ifndef JITBPF_AGENT_LAUNCH_STOP_SIGNALS_H
#define JITBPF_AGENT_LAUNCH_STOP_SIGNALS_H

struct stop_signals {
	int fd; /* readable when the run is to end; -1: not caught, or released */
	void (*before_pipe)(int signal); /* what became of SIGPIPE before: a child's to restore */
};

/* Returns 0, or negative errno with nothing caught. */
int stop_signals_init(struct stop_signals *signals);

/* What came up to now has been heard; the next one ends us at once. More than once is fine. */
void stop_signals_release(struct stop_signals *signals);

#endif
