/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The option that says how line tables of JIT code are meant, for who can tell better than a guess.
 */
#ifndef JITBPF_CLI_LINE_RULES_H
#define JITBPF_CLI_LINE_RULES_H

#include "cli/options.h"
#include "state/code/code_lines.h"

#define LINE_RULES_OPTION(at)                                                                      \
	{                                                                                          \
		0, "line-offsets", OPTION_STRINGS, at, "MODULE=start|end",                         \
			"what the offsets in line tables of a module of JIT code are, [jit] for "  \
			"code without a module (else guessed; may be given several times)"         \
	}

/*
 * Read what was given. Says itself what is wrong with it. Returns 0 and sets *ret,
 * -EINVAL or -ENOMEM; line_rules_deinit() is due in any case.
 */
int line_rules_init(const string_list *given, struct code_line_rules *ret);
void line_rules_deinit(struct code_line_rules *rules);

#endif
