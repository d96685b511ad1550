/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The help of the program. */
#ifndef JITBPF_CLI_HELP_H
#define JITBPF_CLI_HELP_H

#include <stdio.h>

/* Write the list of commands. */
void help_write(FILE *out);

#endif
