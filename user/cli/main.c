/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"
#include "cli/commands.h"
#include "cli/help.h"

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
	static const struct {
		const char *option, *command;
	} aliases[] = {
		{"-h", "help"},
		{"--help", "help"},
		{"-V", "version"},
		{"--version", "version"},
	};
	const struct command_spec *spec;
	const char *name = NULL;

	occupy_standard_streams();
	if (argc < 2) {
		help_write(stderr);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++) {
		if (!strcmp(argv[1], aliases[i].option))
			name = aliases[i].command;
	}
	spec = command_find(name ?: argv[1]);
	return spec ? spec->run(spec, argc - 1, argv + 1) : command_unknown(argv[1]);
}
