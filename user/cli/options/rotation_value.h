/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The value of --rotate. */
#ifndef JITBPF_CLI_OPTIONS_ROTATION_VALUE_H
#define JITBPF_CLI_OPTIONS_ROTATION_VALUE_H

#include "run/outputs/rotation.h"

/*
 * Parse options->rotate: a duration of at least 1 s, or a size of at least 1 MiB. Returns false if
 * it is neither.
 */
bool rotation_parse(struct rotation_options *options);

#endif
