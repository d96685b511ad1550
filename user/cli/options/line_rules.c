/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/options/line_rules.h"
#include "run/messages/say.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int read_rule(const char *given, struct code_line_rule *ret)
{
	const char *mark = strrchr(given, '=');

	if (mark && !strcmp(mark, "=start"))
		ret->offsets = LINE_OFFSETS_START;
	else if (mark && !strcmp(mark, "=end"))
		ret->offsets = LINE_OFFSETS_END;
	if (!mark || mark == given || ret->offsets == LINE_OFFSETS_GUESS) {
		say("jitbpf: invalid value '%s' for --line-offsets: expected MODULE=start or "
		    "MODULE=end\n",
		    given);
		return -EINVAL;
	}
	ret->module = strndup(given, (size_t)(mark - given));
	return ret->module ? 0 : -ENOMEM;
}

int line_rules_init(const string_list *given, struct code_line_rules *ret)
{
	struct code_line_rule *rules = given->size ? calloc(given->size, sizeof(*rules)) : NULL;
	int err = given->size && !rules ? -ENOMEM : 0;

	*ret = (struct code_line_rules){.rules = rules};
	for (size_t i = 0; i < given->size && !err; i++) {
		err = read_rule(given->data[i], &rules[i]);
		ret->count += !err;
	}
	return err;
}

void line_rules_deinit(struct code_line_rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		free((char *)rules->rules[i].module);
	free((struct code_line_rule *)rules->rules);
	*rules = (struct code_line_rules){0};
}
