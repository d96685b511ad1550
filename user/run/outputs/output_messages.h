/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages about outputs that failed or lack something, on standard error. */
#ifndef JITBPF_RUN_OUTPUTS_OUTPUT_MESSAGES_H
#define JITBPF_RUN_OUTPUTS_OUTPUT_MESSAGES_H

#include <stdint.h>

#include "run/outputs/outputs.h"

/* Say why the output at path (NULL: standard output) was not opened. opener: NULL for none. */
void output_say_unopened(const struct output_opener *opener, const char *path, int err);

/* Say the error of an output and what to do, once; nothing if it has none. */
void output_say_error(const struct output *output);

/* Returns the part of a message that says what is at the path of a failed output. */
const char *output_remains(const struct output *output);

/* Say that an output lacks samples at its end; nothing if samples is 0. */
void output_say_left_out(const struct output *output, uint64_t samples);

#endif
