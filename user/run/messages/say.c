/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/messages/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "sink/write/text.h"

void say(const char *format, ...)
{
	CLEANUP(text_deinit) struct text text = {0};
	AUTO_FREE char *message = NULL;
	va_list arguments;
	int bytes;

	va_start(arguments, format);
	bytes = vasprintf(&message, format, arguments);
	va_end(arguments);
	if (bytes < 0) {
		message = NULL;
		return;
	}
	if (bytes && message[bytes - 1] == '\n')
		message[--bytes] = '\0';
	else
		format = "";
	text_put_name(&text, message, 0, 0);
	text_put_string(&text, *format ? "\n" : "");
	text_write(&text, stderr);
}
