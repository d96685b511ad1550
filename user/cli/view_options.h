/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options that say how a profile is looked at: the same in every command that shows one. */
#ifndef JITBPF_CLI_VIEW_OPTIONS_H
#define JITBPF_CLI_VIEW_OPTIONS_H

#include "cli/options.h"
#include "sink/view_options.h"

/* Their values are a struct view_options. */
extern const struct option_table view_option_table;

#endif
