/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The option --line-offsets: the meaning of offsets in the line tables of JIT modules. */
#ifndef JITBPF_CLI_OPTIONS_LINE_RULES_H
#define JITBPF_CLI_OPTIONS_LINE_RULES_H

#include "cli/options/options.h"
#include "state/code/code_lines.h"

#define LINE_RULES_OPTION(at)                                                                      \
	{                                                                                          \
		0, "line-offsets", OPTION_STRINGS, at, "MODULE=start|end",                         \
			"meaning of the offsets in the line tables of a JIT module; [jit] is "     \
			"code without a module (default: guessed; may be repeated)"                \
	}

/*
 * Parse the values of the option; prints a message on errors. Returns 0 and
 * sets *ret, -EINVAL or -ENOMEM. The caller calls line_rules_deinit() in any
 * case.
 */
int line_rules_init(const string_list *given, struct code_line_rules *ret);
void line_rules_deinit(struct code_line_rules *rules);

#endif
