/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/messages/status_line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/clock.h"
#include "base/scope.h"
#include "run/messages/terminal.h"
#include "sink/write/text.h"

#define INTERVAL_NS 250000000u
#define COLUMNS_MIN 4 /* of text_put_name_cut() */

void status_line_init(struct status_line *line)
{
	*line = (struct status_line){
		.shown = isatty(STDERR_FILENO),
		.start_ns = clock_now_ns(),
	};
	line->last_ns = line->start_ns; /* short runs show no line */
}

bool status_line_due(const struct status_line *line)
{
	return line->shown && clock_now_ns() - line->last_ns >= INTERVAL_NS;
}

/* A line that wraps could not be overwritten; some terminals wrap after the last column. */
static uint32_t columns_of_line(void)
{
	return (terminal_columns(STDERR_FILENO) ?: TERMINAL_COLUMNS_DEFAULT) - 1;
}

static void show(struct status_line *line, const char *said, uint32_t columns)
{
	CLEANUP(text_deinit) struct text text = {0};

	text_put_string(&text, "\r\033[K");
	text_put_name_cut(&text, said, columns < COLUMNS_MIN ? COLUMNS_MIN : columns);
	text_write(&text, stderr);
	fflush(stderr);
	line->last_ns = clock_now_ns();
	line->written = true;
}

void status_line_say(struct status_line *line, const char *format, ...)
{
	char said[1024];
	va_list args;

	if (!line->shown)
		return;
	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
	show(line, said, columns_of_line());
}

void status_line_write_progress(const struct status_figures *figures, uint32_t columns, char *ret,
				size_t ret_bytes)
{
	char parts[5][48];
	size_t at;

	snprintf(parts[0], sizeof(*parts), "%.1f s", figures->seconds);
	snprintf(parts[1], sizeof(*parts), "  %" PRIu64 " lost", figures->lost);
	snprintf(parts[2], sizeof(*parts), "  %.1f%% unresolved",
		 figures->samples ? 100.0 * (double)figures->unresolved / (double)figures->samples
				  : 0);
	snprintf(parts[3], sizeof(*parts), "  %" PRIu64 " samples", figures->samples);
	snprintf(parts[4], sizeof(*parts), "  %" PRIu64 " JIT methods", figures->jit_methods);
	at = (size_t)snprintf(ret, ret_bytes, "%s", parts[0]);
	for (size_t i = 1; i < ARRAY_SIZE(parts) && at + strlen(parts[i]) <= columns; i++)
		at += (size_t)snprintf(ret + at, ret_bytes - at, "%s", parts[i]);
}

void status_line_say_progress(struct status_line *line, const struct analysis_progress *progress,
			      uint64_t lost)
{
	const struct status_figures figures = {
		.seconds = (double)(clock_now_ns() - line->start_ns) / 1e9,
		.lost = lost,
		.unresolved = progress->code_unknown,
		.samples = progress->samples,
		.jit_methods = progress->jit_methods,
	};
	char said[STATUS_PROGRESS_BYTES];
	uint32_t columns = columns_of_line();

	if (!line->shown)
		return;
	status_line_write_progress(&figures, columns, said, sizeof(said));
	show(line, said, columns);
}

static void show_naming(void *line_, uint64_t done, uint64_t all, const char *path)
{
	struct status_line *line = line_;

	if (!line->shown || (path == line->path && !status_line_due(line)))
		return;
	line->path = path;
	status_line_say(line, "naming %" PRIu64 " of %" PRIu64 "%s%s", done + 1, all,
			path ? "  " : "", path ?: "");
}

void status_line_init_naming(struct status_line *line, struct naming_progress *ret)
{
	*ret = (struct naming_progress){.show = show_naming, .context = line};
}

void status_line_clear(struct status_line *line)
{
	if (line->written)
		fprintf(stderr, "\r\033[K");
	line->written = false;
}
