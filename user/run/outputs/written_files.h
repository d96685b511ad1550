/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The last message of `jitbpf record`: its output files. */
#ifndef JITBPF_RUN_OUTPUTS_WRITTEN_FILES_H
#define JITBPF_RUN_OUTPUTS_WRITTEN_FILES_H

#include "run/outputs/outputs.h"

/*
 * Print to standard error which files were written, their sizes, and what shows them. Outputs that
 * failed, and those that are no files, are left out.
 */
void written_files_say(const struct outputs *outputs);

#endif
