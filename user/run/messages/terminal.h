/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The terminal of a standard stream. */
#ifndef JITBPF_RUN_MESSAGES_TERMINAL_H
#define JITBPF_RUN_MESSAGES_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "sink/view_options.h"

#define TERMINAL_COLUMNS_DEFAULT 80 /* of a terminal that does not say its width */

/* Returns the width of the terminal, 0 if fd is none. */
uint32_t terminal_columns(int fd);

/*
 * Returns true if what is written to fd (-1: to a file) has colours. With VIEW_COLOR_AUTO, fd must
 * be a terminal, and NO_COLOR and TERM=dumb forbid them.
 */
bool terminal_has_colours(int fd, enum view_color color);

#endif
