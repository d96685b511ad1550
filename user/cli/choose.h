/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From the options that choose processes (-p, -u, -G, --container) to the processes. */
#ifndef JITBPF_CLI_CHOOSE_H
#define JITBPF_CLI_CHOOSE_H

#include "cli/options/options.h"
#include "run/target/choice.h"

/*
 * Find the users, cgroups and processes in the options. Returns OPTIONS_OK, or an exit status after
 * a message. The caller calls choice_deinit() in any case.
 */
int choice_make(const struct choice_options *options, struct choice *ret);

/*
 * Find the running processes that lists such as choice_options.processes select. Adds the listed
 * pids, and the pids of the listed names, to *ret, each once. Prints a message about each name
 * without a process. Returns the same as choice_make().
 */
int choice_find_running(const string_list *processes, pid_list *ret);

#endif
