/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why a profile is empty: a line on standard error that says what to look at. */
#ifndef JITBPF_CLI_NO_SAMPLES_H
#define JITBPF_CLI_NO_SAMPLES_H

#include "cli/target.h"
#include "pipeline/analysis/sample_filter.h"
#include "sink/sink.h"

/* Say that the options of a command that shows a recording select no sample, if that is so. */
void no_samples_say_shown(const struct view *view, const struct sample_filter *filter,
			  const char *path);

/* Say why a run has taken no sample, if it has taken none. */
void no_samples_say_recorded(const struct view *view, const struct target_options *target,
			     uint32_t freq_hz);

#endif
