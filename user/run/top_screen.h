/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `jitbpf top`: the recorder's side of the screen. Another process draws it
 * (agent/terminal/top_viewer.h). While it is shown, messages of jitbpf to the terminal are kept,
 * and printed when the screen is gone.
 */
#ifndef JITBPF_RUN_TOP_SCREEN_H
#define JITBPF_RUN_TOP_SCREEN_H

#include <stdbool.h>

#include "pipeline/pipeline.h"
#include "sink/view_options.h"

struct top_screen;

/*
 * Returns true if there is a terminal to show it on, and the user does not want text. Else prints
 * what to do instead.
 */
bool top_screen_is_possible(bool once);

/*
 * Fork the viewer. Call it while this process has one thread, few files, and has read nothing of
 * others. Prints a message on errors. Returns 0 or a negative errno. Sets *ret in both cases; the
 * caller destroys it.
 */
int top_screen_prepare(struct top_screen **ret);

/* Show the screen, with a window of top_ui_set_window(). The pipeline is borrowed. Prints a message
 * on errors. Returns as above. */
int top_screen_show(struct top_screen *screen, struct pipeline *pipeline,
		    const struct view_options *view, uint64_t window_ns);

/* Readable when top_screen_round() has something to do. -1: none. */
#define TOP_SCREEN_FDS 2
void top_screen_fds(const struct top_screen *screen, int ret[TOP_SCREEN_FDS]);

/* Returns false if the user has ended the run, or the viewer has failed. true without a screen. */
bool top_screen_round(struct top_screen *screen);

/* Show that the profiled command or processes have ended; the screen stays open. */
void top_screen_say_ended(struct top_screen *screen);

/*
 * Remove the screen and print the messages. Returns 0, or -EIO if the viewer has failed. NULL is
 * allowed, and so is ending twice.
 */
int top_screen_end(struct top_screen *screen);

/* Call it after top_screen_end() and pipeline_destroy(). NULL is allowed. */
void top_screen_destroy(struct top_screen *screen);

#endif
