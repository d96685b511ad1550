/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jitbpf help and jitbpf version. */
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "cli/commands.h"
#include "cli/options/option_help.h"
#include "run/messages/say.h"
#include "sink/write/out.h"

void help_write(FILE *out)
{
	const struct command_spec *spec;

	fprintf(out, "usage: jitbpf COMMAND ...\n\ncommands:\n");
	for (size_t i = 0; (spec = command_at(i)); i++) {
		if (!spec->hidden)
			fprintf(out, "  %-10s%s\n", spec->name, spec->summary);
	}
	fprintf(out, "\nSee 'jitbpf help COMMAND' for the options of a command.\n");
}

static int flush_output(const char *name)
{
	int err = out_flush(stdout);

	if (err)
		say("jitbpf %s: %s\n", name, strerror(-err));
	return err ? 1 : 0;
}

static int run_help(const struct command_spec *spec, int argc, char **argv)
{
	const struct command_spec *asked;
	int operand, status = options_parse(spec, argc, argv, NULL, &operand);

	if (status != OPTIONS_OK)
		return status;
	if (operand == argc) {
		help_write(stdout);
		return flush_output(spec->name);
	}
	if (operand + 1 < argc) {
		say("jitbpf help: unexpected operand '%s'\n", argv[operand + 1]);
		return EXIT_USAGE;
	}
	asked = command_find(argv[operand]);
	return asked ? option_help_print(asked) : command_unknown(argv[operand]);
}

static int run_version(const struct command_spec *spec, int argc, char **argv)
{
	int operand, status = options_parse(spec, argc, argv, NULL, &operand);

	if (status != OPTIONS_OK)
		return status;
	if (operand < argc) {
		say("jitbpf version: unexpected operand '%s'\n", argv[operand]);
		return EXIT_USAGE;
	}
	printf("jitbpf " JITBPF_VERSION "\n");
	return flush_output(spec->name);
}

const struct command_spec command_help = {
	.name = "help",
	.usage = "[COMMAND]",
	.summary = "show the commands, or the options of a command",
	.operands = CANDIDATES_COMMANDS,
	.run = run_help,
};

const struct command_spec command_version = {
	.name = "version",
	.usage = "",
	.summary = "print the version",
	.run = run_version,
};
