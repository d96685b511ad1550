/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options that select what is shown of a profile. Shared by all commands that show one. */
#ifndef JITBPF_CLI_OPTIONS_VIEW_OPTIONS_H
#define JITBPF_CLI_OPTIONS_VIEW_OPTIONS_H

#include "cli/options/options.h"
#include "sink/view_options.h"

/*
 * The values of both tables are one struct view_options. The second table is
 * for commands that write scripts.
 */
extern const struct option_table view_option_table;
extern const struct option_table script_option_table;

#endif
