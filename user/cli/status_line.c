/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/status_line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/clock.h"
#include "base/scope.h"
#include "base/utf8.h"
#include "cli/terminal.h"
#include "sink/write/text.h"

#define INTERVAL_NS 250000000u

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

/* A line that wraps could not be overwritten. */
static void cut(char *s, uint32_t columns)
{
	for (uint32_t bytes; *s; s += bytes) {
		if (!--columns) {
			*s = 0;
			break;
		}
		utf8_next(s, &bytes);
	}
}

void status_line_say(struct status_line *line, const char *format, ...)
{
	CLEANUP(text_deinit) struct text text = {0};
	char said[1024];
	va_list args;

	if (!line->shown)
		return;
	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
	cut(said, terminal_columns(STDERR_FILENO) ?: TERMINAL_COLUMNS_DEFAULT);
	text_put_string(&text, "\r\033[K");
	text_put_name(&text, said, 0, 0);
	text_write(&text, stderr);
	fflush(stderr);
	line->last_ns = clock_now_ns();
	line->written = true;
}

void status_line_say_progress(struct status_line *line, const struct analysis_progress *progress,
			      uint64_t lost)
{
	uint64_t samples = progress->samples;

	status_line_say(line,
			"%.1f s  %" PRIu64 " samples  %" PRIu64 " JIT methods  %" PRIu64
			" lost  %.1f%% unresolved",
			(double)(clock_now_ns() - line->start_ns) / 1e9, samples,
			progress->jit_methods, lost,
			samples ? 100.0 * (double)progress->code_unknown / (double)samples : 0);
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
