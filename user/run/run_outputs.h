/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The outputs of a run: declared before privileges are dropped, opened when their formats are known
 * to be possible, begun with a description of the run. All functions print a message on errors.
 */
#ifndef JITBPF_RUN_RUN_OUTPUTS_H
#define JITBPF_RUN_RUN_OUTPUTS_H

#include "run/run_setup.h"

/*
 * Declare the outputs, and then the file of --stats, to the process that opens them. Returns 0 or a
 * negative errno.
 */
int run_outputs_start(struct run *run);

/* Open the outputs. Returns as above, with run->misused set for invalid options. */
int run_outputs_open(struct run *run);

/* Describe the run in all outputs, and begin the recording. Returns as above. */
int run_outputs_begin(struct run *run);

/*
 * Make room on the disk if its limits require it (at most ten times a second). Returns false if the
 * run must end.
 */
bool run_outputs_have_room(struct run *run, uint64_t now_ns);

#endif
