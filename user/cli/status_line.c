/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/status_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define INTERVAL_NS 250000000u

void status_line_init(struct status_line *line, uint64_t now_ns)
{
	*line = (struct status_line){
		.shown = isatty(STDERR_FILENO),
		.start_ns = now_ns,
	};
}

bool status_line_due(const struct status_line *line, uint64_t now_ns)
{
	return line->shown && now_ns - line->last_ns >= INTERVAL_NS;
}

void status_line_write(struct status_line *line, uint64_t now_ns,
		       const struct pipeline_progress *progress, uint64_t lost)
{
	uint64_t samples = progress->samples;
	double unknown = samples ? 100.0 * (double)progress->code_unknown / (double)samples : 0;

	line->last_ns = now_ns;
	fprintf(stderr,
		"\r\033[K%.1f s  %" PRIu64 " samples  %" PRIu64 " JIT methods  %" PRIu64
		" lost  %.1f%% unresolved",
		(double)(now_ns - line->start_ns) / 1e9, samples, progress->jit_methods, lost,
		unknown);
	fflush(stderr);
}

void status_line_clear(const struct status_line *line)
{
	if (line->shown)
		fprintf(stderr, "\r\033[K");
}
