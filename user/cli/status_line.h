/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The line on a terminal that says how a run goes, written over again and again
 * and gone at the end; nothing anywhere else.
 */
#ifndef JITBPF_CLI_STATUS_LINE_H
#define JITBPF_CLI_STATUS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/pipeline.h"

struct status_line {
	bool shown;   /* standard error is a terminal */
	bool written; /* something stands there */
	uint64_t start_ns;
	uint64_t last_ns;
	const char *path; /* of what was named last; compared only */
};

void status_line_init(struct status_line *line);

/* Is it time to write it again? Asking costs nothing, the figures may. */
bool status_line_due(const struct status_line *line);

/* Write it: as much as the terminal is wide, and nothing that would change the terminal. */
__attribute__((format(printf, 2, 3))) void status_line_say(struct status_line *line,
							   const char *format, ...);

/* How a recording goes. */
void status_line_say_progress(struct status_line *line, const struct analysis_progress *progress,
			      uint64_t lost);

/* How naming goes: due or not, whenever it comes to another file. *ret borrows line. */
void status_line_init_naming(struct status_line *line, struct naming_progress *ret);

/* Leave the terminal as it was. */
void status_line_clear(struct status_line *line);

#endif
