/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A run of `jitbpf record`, `live` or `top`: its event loop, and how it ends. */
#ifndef JITBPF_RUN_RUN_H
#define JITBPF_RUN_RUN_H

#include "run/run_options.h"

/*
 * Record on the live kernel until the duration, the command, a signal or the disk ends the run, and
 * write all outputs. Prints messages about errors. Returns the exit status of jitbpf.
 */
int run_until_end(const struct run_options *values);

#endif
