/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints why a profile is empty, and what to do, as a line on standard error. */
#ifndef JITBPF_RUN_NO_SAMPLES_H
#define JITBPF_RUN_NO_SAMPLES_H

#include "pipeline/analysis/sample_filter.h"
#include "run/target/target.h"
#include "sink/sink.h"

/* For a command that shows a recording: print a line if its options select no sample. */
void no_samples_say_shown(const struct view *view, const struct sample_filter *filter,
			  const char *path);

/* For a run: if it has taken no sample, print why. */
void no_samples_say_recorded(const struct view *view, const struct target_options *target,
			     uint32_t freq_hz);

#endif
