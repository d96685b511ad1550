/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Signals that end a run. The first SIGINT, SIGTERM or SIGHUP makes fd
 * readable, so that the event loop can end in order and write the outputs.
 * After stop_signals_release() these signals kill the process as usual. A
 * SIGHUP that is ignored (nohup) stays ignored. SIGPIPE is ignored: a reader
 * that exits causes a write error on its output, and the other outputs are
 * completed.
 */
#ifndef JITBPF_AGENT_LAUNCH_STOP_SIGNALS_H
#define JITBPF_AGENT_LAUNCH_STOP_SIGNALS_H

struct stop_signals {
	int fd; /* readable when the run must end; -1 if not initialized or released */
	/* previous disposition of SIGPIPE, which a child restores */
	void (*before_pipe)(int signal);
};

/* Returns 0, or a negative errno with no signal caught. */
int stop_signals_init(struct stop_signals *signals);

/*
 * From now on, the next signal calls say() on a thread of its own, and then kills the process as by
 * default. Signals received before are consumed. If memory for the thread is short, this does the
 * same as stop_signals_release().
 */
void stop_signals_kill_next(struct stop_signals *signals, void (*say)(void *context),
			    void *context);

/*
 * Restore default signals: the next signal kills the process. Signals received
 * before are consumed. May be called repeatedly. say() is not called any more.
 */
void stop_signals_release(struct stop_signals *signals);

#endif
