/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The progress line on a terminal. It is overwritten repeatedly, and cleared at
 * the end. If standard error is not a terminal, nothing is printed.
 */
#ifndef JITBPF_RUN_MESSAGES_STATUS_LINE_H
#define JITBPF_RUN_MESSAGES_STATUS_LINE_H

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

/* Show a text, shortened to the width of the terminal, with control characters replaced. */
__attribute__((format(printf, 2, 3))) void status_line_say(struct status_line *line,
							   const char *format, ...);

struct status_figures {
	double seconds;
	uint64_t lost, unresolved, samples, jit_methods;
};

#define STATUS_PROGRESS_BYTES 256

/*
 * Write the line of a recording: first the counts that should be 0, then the others. A figure that
 * does not fit into `columns` is left out, with all later ones, since a part of a number would be
 * wrong. ret_bytes is at least STATUS_PROGRESS_BYTES.
 */
void status_line_write_progress(const struct status_figures *figures, uint32_t columns, char *ret,
				size_t ret_bytes);

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
