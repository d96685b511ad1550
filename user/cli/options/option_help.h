/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The help of a command, from its table of options. */
#ifndef JITBPF_CLI_OPTIONS_OPTION_HELP_H
#define JITBPF_CLI_OPTIONS_OPTION_HELP_H

#include <stdio.h>

#include "cli/options/options.h"

/* The option that each command has beside those of its tables. */
extern const struct option_spec option_help;

/* Write the text of an option: its help and its choices. Returns 0, -ENOMEM or an error of out. */
int option_write_text(FILE *out, const struct option_spec *option);

/* Write the help to standard output. Prints a message on errors. Returns the exit status. */
int option_help_print(const struct command_spec *spec);

#endif
