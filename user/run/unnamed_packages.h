/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the packages of the files that lack names, as outputs show them: once, before outputs are
 * written, in a helper process, with a time limit. So a recording has no names of packages: they
 * are those of the machine where it is shown, if that has the same files.
 */
#ifndef JITBPF_RUN_UNNAMED_PACKAGES_H
#define JITBPF_RUN_UNNAMED_PACKAGES_H

#include "agent/files/file_store.h"
#include "run/outputs/outputs.h"

/*
 * Find the packages if an output or the summary shows them, and at least one sample in a hundred
 * has no name. Sets *ret, which was empty, and the view of the pipeline, which borrows it. Packages
 * that cannot be found are left out. The caller calls file_packages_deinit() after the last output.
 */
void unnamed_packages_find(struct pipeline *pipeline, struct file_store *files,
			   const struct outputs *outputs, bool summary, struct file_packages *ret);

#endif
