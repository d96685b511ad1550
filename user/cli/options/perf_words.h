/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands and options of perf and of flame graph scripts that jitbpf lacks or names otherwise. */
#ifndef JITBPF_CLI_OPTIONS_PERF_WORDS_H
#define JITBPF_CLI_OPTIONS_PERF_WORDS_H

/* Returns what to use instead of a command that is not known here, or NULL. */
const char *perf_command_advice(const char *name);

/*
 * The same for an option of a command. arg is the whole argument, such as "-g" or "--event=cycles".
 */
const char *perf_option_advice(const char *command, const char *arg);

#endif
