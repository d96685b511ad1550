/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "cli/options/perf_words.h"
#include "cli/options/suggestion.h"
#include "run/messages/say.h"

static const struct command_spec *const commands[] = {
	&command_record, &command_live,	   &command_top,      &command_report, &command_annotate,
	&command_diff,	 &command_list,	   &command_env,      &command_doctor, &command_explain,
	&command_help,	 &command_version, &command_complete,
};

const struct command_spec *command_at(size_t i)
{
	return i < ARRAY_SIZE(commands) ? commands[i] : NULL;
}

const struct command_spec *command_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

int command_unknown(const char *name)
{
	struct suggestion suggestion = {.word = name, .word_bytes = strlen(name)};
	const char *advice = perf_command_advice(name), *near;

	if (advice) {
		say("jitbpf: unknown command '%s': %s\n", name, advice);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!commands[i]->hidden)
			suggestion_add(&suggestion, commands[i]->name);
	}
	near = suggestion_get(&suggestion);
	if (near)
		say("jitbpf: unknown command '%s': did you mean '%s'? (see 'jitbpf help')\n", name,
		    near);
	else
		say("jitbpf: unknown command '%s' (see 'jitbpf help')\n", name);
	return EXIT_USAGE;
}
