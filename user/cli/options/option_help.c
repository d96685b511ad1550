/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/options/option_help.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "cli/options/option_values.h"
#include "run/messages/say.h"
#include "sink/write/out.h"

#define HELP_COLUMN 30
#define HELP_END    90

/* Print a text in the right column, wrapped at HELP_END. */
static void print_column(const char *words)
{
	size_t at = HELP_COLUMN;

	while (*words) {
		size_t bytes = strcspn(words, " ");

		if (at > HELP_COLUMN && at + 1 + bytes > HELP_END) {
			printf("\n%*s", HELP_COLUMN, "");
			at = HELP_COLUMN;
		} else if (at > HELP_COLUMN) {
			putchar(' ');
			at++;
		}
		printf("%.*s", (int)bytes, words);
		at += bytes;
		words += bytes;
		words += strspn(words, " ");
	}
	putchar('\n');
}

int option_write_text(FILE *out, const struct option_spec *option)
{
	fprintf(out, "%s%s", option->help, option->choices ? ": " : "");
	if (option->choices)
		option_print_choices(out, option);
	return ferror(out) ? -EIO : 0;
}

static int print_option(const struct option_spec *option)
{
	AUTO_FREE char *words = NULL;
	size_t size;
	FILE *text = open_memstream(&words, &size);
	int left;

	if (!text)
		return -ENOMEM;
	option_write_text(text, option);
	if (fclose(text))
		return -ENOMEM;
	left = printf("  %c%c%s--%s%s%s", option->short_name ? '-' : ' ',
		      option->short_name ? option->short_name : ' ',
		      option->short_name ? ", " : "  ", option->long_name,
		      option->argument ? " " : "", option->argument ? option->argument : "");
	if (left < HELP_COLUMN)
		printf("%*s", HELP_COLUMN - left, "");
	else
		printf("\n%*s", HELP_COLUMN, "");
	print_column(words);
	return 0;
}

const struct option_spec option_help = {'h', "help", OPTION_FLAG, .help = "show this help"};

int option_help_print(const struct command_spec *spec)
{
	const struct option_spec *option;
	int err = 0;

	printf("usage: jitbpf %s%s%s\n\n%s\n\noptions:\n", spec->name, *spec->usage ? " " : "",
	       spec->usage, spec->summary);
	for (size_t i = 0; !err && (option = command_option(spec, i, NULL)); i++)
		err = print_option(option);
	err = err ?: print_option(&option_help);
	err = err ?: out_flush(stdout);
	if (err)
		say("jitbpf %s: the help was not written: %s\n", spec->name, strerror(-err));
	return err ? 1 : 0;
}
