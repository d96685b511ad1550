/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A run of `jitbpf record`, `live` or `top`: its event loop, and how it ends. */
#ifndef JITBPF_CLI_RECORD_RUN_H
#define JITBPF_CLI_RECORD_RUN_H

#include "cli/record_setup.h"

/*
 * Record on the live kernel until the duration, the command, a signal or the disk ends the run, and
 * write all outputs. Prints messages about errors. Returns the exit status of jitbpf.
 */
int record_run(const struct record_options *values);

#endif
