/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands of jitbpf. Each one has its own file, such as record.c. */
#ifndef JITBPF_CLI_COMMANDS_H
#define JITBPF_CLI_COMMANDS_H

#include "cli/options/options.h"
#include "run/exit_status.h"

extern const struct command_spec command_annotate;
extern const struct command_spec command_complete;
extern const struct command_spec command_diff;
extern const struct command_spec command_doctor;
extern const struct command_spec command_env;
extern const struct command_spec command_explain;
extern const struct command_spec command_help;
extern const struct command_spec command_list;
extern const struct command_spec command_live;
extern const struct command_spec command_record;
extern const struct command_spec command_report;
extern const struct command_spec command_top;
extern const struct command_spec command_version;

/* Returns command number i, in the order of the help, or NULL after the last one. */
const struct command_spec *command_at(size_t i);
/* Returns NULL if there is no such command. */
const struct command_spec *command_find(const char *name);

/* Print that there is no such command, and the most similar one. Returns the exit status. */
int command_unknown(const char *name);

#endif
