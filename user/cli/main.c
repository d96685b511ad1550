/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"
#include "cli/commands.h"

static const struct command_spec *const commands[] = {
	&command_record, &command_live, &command_report, &command_diff,
	&command_list,	 &command_env,	&command_doctor};

static void usage(FILE *out)
{
	fprintf(out, "usage: jitbpf COMMAND ...\n\ncommands:\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-10s%s\n", commands[i]->name, commands[i]->summary);
	fprintf(out,
		"\nSee 'jitbpf COMMAND --help' for options, 'jitbpf --version' for the version.\n");
}

/* If a standard stream is closed, a file opened later would take its descriptor. */
static void occupy_standard_streams(void)
{
	int fd;

	while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO)
		;
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	occupy_standard_streams();
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("jitbpf " JITBPF_VERSION "\n");
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(argv[1], commands[i]->name))
			return commands[i]->run(commands[i], argc - 1, argv + 1);
	}
	fprintf(stderr, "jitbpf: unknown command '%s' (see 'jitbpf --help')\n", argv[1]);
	return EXIT_USAGE;
}
