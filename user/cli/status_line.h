/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The progress line on a terminal. It is overwritten repeatedly, and cleared at
 * the end. If standard error is not a terminal, nothing is printed.
 */
#ifndef JITBPF_CLI_STATUS_LINE_H
#define JITBPF_CLI_STATUS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/pipeline.h"

struct status_line {
	bool shown;   /* standard error is a terminal */
	bool written; /* the line is currently shown */
	uint64_t start_ns;
	uint64_t last_ns;
	const char *path; /* path that was shown last; only compared */
};

void status_line_init(struct status_line *line);

/* Returns true if the line should be updated. The check is cheap; collecting figures may not be. */
bool status_line_due(const struct status_line *line);

/* Show a text, cut at the width of the terminal, with control characters escaped. */
__attribute__((format(printf, 2, 3))) void status_line_say(struct status_line *line,
							   const char *format, ...);

/* Show the progress of a recording. */
void status_line_say_progress(struct status_line *line, const struct analysis_progress *progress,
			      uint64_t lost);

/*
 * Set *ret to report the progress of naming, when an update is due or the file
 * changes. *ret borrows line.
 */
void status_line_init_naming(struct status_line *line, struct naming_progress *ret);

/* Remove the line. */
void status_line_clear(struct status_line *line);

#endif
