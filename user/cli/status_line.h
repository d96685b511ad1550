/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The line on a terminal that says how a recording goes; nothing anywhere else. */
#ifndef JITBPF_CLI_STATUS_LINE_H
#define JITBPF_CLI_STATUS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/pipeline.h"

struct status_line {
	bool shown; /* standard error is a terminal */
	uint64_t start_ns;
	uint64_t last_ns;
};

void status_line_init(struct status_line *line, uint64_t now_ns);

/* Is it time to write it again? Asking costs nothing, the figures may. */
bool status_line_due(const struct status_line *line, uint64_t now_ns);
void status_line_write(struct status_line *line, uint64_t now_ns,
		       const struct pipeline_progress *progress, uint64_t lost);

/* Leave the terminal as it was. */
void status_line_clear(const struct status_line *line);

#endif
