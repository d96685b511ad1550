/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The screen of `jitbpf top` without a terminal: keys go in, lines of text come out. Three tables,
 * of processes, functions and the tree of frames, with one selection each. The selected row stays
 * selected while the data change, and on the same line of the screen if possible. It is identified
 * by the number of a process, the label of a function, or the path of a frame.
 */
#ifndef JITBPF_SINK_TOP_TOP_UI_H
#define JITBPF_SINK_TOP_TOP_UI_H

#include <stdbool.h>
#include <stdint.h>

#include "sink/sink.h"
#include "sink/write/text.h"

/* Keys that are no characters: beyond Unicode. */
enum top_key {
	TOP_KEY_UP = 0x110000,
	TOP_KEY_DOWN,
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_BACKSPACE,
	TOP_KEY_TAB_BACK,
};

#define TOP_KEY_ENTER  '\n'
#define TOP_KEY_ESCAPE 27

enum top_style {
	TOP_PLAIN,
	TOP_BOLD, /* headings, processes */
	TOP_CYAN, /* colours of frames, by kind */
	TOP_YELLOW,
	TOP_GREEN,
	TOP_STATUS,   /* the tabs and the last line */
	TOP_SELECTED, /* to the end of the line */
	TOP_STYLES
};

/* A line of the screen: UTF-8 without control characters, within its columns. */
struct top_line {
	struct text text;
	enum top_style style;
};

struct top_canvas {
	VEC(struct top_line) lines; /* from the top; the owner calls top_canvas_deinit() */
};

void top_canvas_deinit(struct top_canvas *canvas);

struct top_ui; /* see top_ui_state.h */

/* Returns 0 or -ENOMEM. */
int top_ui_create(const struct view_options *options, struct top_ui **ret);
void top_ui_destroy(struct top_ui *ui); /* NULL is allowed */

/*
 * The view, of event 0, has changed. The caller keeps it, and those of view->by_event, until the
 * next call, for changes of filters.
 * While the screen is paused, only a change of a filter shows new data. Returns 0 or -ENOMEM.
 */
int top_ui_update(struct top_ui *ui, const struct view *view);

/* Show only samples of the last window_ns; 0: all. Before the first view comes. */
void top_ui_set_window(struct top_ui *ui, uint64_t window_ns);

/* Show an event by its name, cut to EVENT_NAME_BYTES, if the run has it. Before the first view. */
void top_ui_set_event(struct top_ui *ui, const char *name);

/* A key was pressed. Returns 0 or -ENOMEM. */
int top_ui_key(struct top_ui *ui, uint32_t key);

/* The run has ended: no more views come. */
void top_ui_end(struct top_ui *ui);

bool top_ui_quits(const struct top_ui *ui);

/* Make the lines of a screen of that size. Returns 0 or -ENOMEM. */
int top_ui_draw(struct top_ui *ui, uint32_t rows, uint32_t columns, struct top_canvas *canvas);

#endif
