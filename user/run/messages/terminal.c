/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/messages/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

uint32_t terminal_columns(int fd)
{
	struct winsize size;

	if (!isatty(fd))
		return 0;
	return ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col ? TERMINAL_COLUMNS_DEFAULT
							    : size.ws_col;
}

bool terminal_has_colours(int fd, enum view_color color)
{
	const char *refused = getenv("NO_COLOR"), *type = getenv("TERM");

	if (color != VIEW_COLOR_AUTO)
		return color == VIEW_COLOR_ALWAYS;
	return isatty(fd) && !(refused && *refused) && type && *type && strcmp(type, "dumb") != 0;
}
