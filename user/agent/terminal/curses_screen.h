/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The terminal as a screen of lines, through ncurses, which writes only what has changed. The
 * library is loaded at run time, since no other command needs it.
 */
#ifndef JITBPF_AGENT_TERMINAL_CURSES_SCREEN_H
#define JITBPF_AGENT_TERMINAL_CURSES_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sink/top/top_ui.h"

#define CURSES_NO_KEY UINT32_MAX

/* Load the library. Returns 0, or -ENOSYS if it is not installed. */
int curses_screen_load(void);

/*
 * Take over the terminal of standard input and output. Returns 0, or -ENOTTY if $TERM is unknown.
 * This function reads files; no later function of the screen does.
 */
int curses_screen_open(void);

/*
 * Leave the screen as it was before, and the terminal's modes; or enter it again. With `modes`
 * false, the modes are left to a shell that has already taken over the terminal.
 */
void curses_screen_leave(bool modes);
void curses_screen_enter(void);

/* The terminal may have another size. */
void curses_screen_resize(void);
void curses_screen_size(uint32_t *ret_rows, uint32_t *ret_columns);

void curses_screen_show(const struct top_canvas *canvas);

/* Returns the next key, an enum top_key or a character; CURSES_NO_KEY if there is none now. */
uint32_t curses_screen_key(void);

/*
 * Copy the escape sequences with which another process can restore the screen. Returns their size;
 * 0 if they do not fit, or there are none.
 */
size_t curses_screen_restoring(char *buf, size_t size_bytes);

#endif
