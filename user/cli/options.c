/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/options.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMN 30

static void print_help(const struct command_spec *spec)
{
	printf("usage: jitbpf %s %s\n\n%s\n\noptions:\n", spec->name, spec->usage, spec->summary);
	for (size_t i = 0; i < spec->option_count; i++) {
		const struct option_spec *option = &spec->options[i];
		char left[128];
		int size;

		size = snprintf(
			left, sizeof(left), "  %c%c%s%s%s%s%s", option->short_name ? '-' : ' ',
			option->short_name ? option->short_name : ' ',
			option->short_name && option->long_name ? ", " : "  ",
			option->long_name ? "--" : "", option->long_name ? option->long_name : "",
			option->argument ? " " : "", option->argument ? option->argument : "");
		printf("%s%*s%s\n", left, size < HELP_COLUMN ? HELP_COLUMN - size : 1, "",
		       option->help);
	}
	printf("  -h, --help%*sshow this\n", HELP_COLUMN - 12, "");
}

static const struct option_spec *find_option(const struct command_spec *spec, char short_name,
					     const char *long_name, size_t long_bytes)
{
	for (size_t i = 0; i < spec->option_count; i++) {
		const struct option_spec *option = &spec->options[i];

		if (short_name && option->short_name == short_name)
			return option;
		if (long_name && option->long_name && strlen(option->long_name) == long_bytes &&
		    !memcmp(option->long_name, long_name, long_bytes))
			return option;
	}
	return NULL;
}

/* A whole decimal number; true if that is all that text is, up to what *ret_end begins with. */
static bool parse_whole(const char *text, const char **ret_end, uint64_t *ret)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	*ret_end = end;
	return !errno;
}

static bool parse_size(const char *text, uint64_t *ret)
{
	static const char units[] = "KMG";
	const char *end, *unit;
	uint64_t value;
	int shift = 0;

	if (!parse_whole(text, &end, &value))
		return false;
	unit = *end ? strchr(units, *end & ~0x20) : NULL;
	if (unit) {
		shift = 10 * (int)(unit - units + 1);
		end++;
	}
	if (*end || value > UINT64_MAX >> shift)
		return false;
	*ret = value << shift;
	return true;
}

static bool parse_seconds(const char *text, uint64_t *ret)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !isfinite(seconds) || seconds < 0 || seconds > 1e9)
		return false;
	*ret = (uint64_t)(seconds * 1e9);
	return true;
}

static bool parse_pids(const char *text, pid_list *ret)
{
	uint64_t pid;

	do {
		if (!parse_whole(text, &text, &pid) || !pid || pid > INT32_MAX ||
		    vec_push(ret, (uint32_t)pid))
			return false;
	} while (*text == ',' && text++);
	return !*text;
}

static bool set_value(const struct option_spec *option, const char *text, void *values)
{
	void *value = (char *)values + option->offset;
	const char *end;
	uint64_t number = 0;

	switch (option->type) {
	case OPTION_FLAG:
		*(bool *)value = true;
		return true;
	case OPTION_STRING:
		*(const char **)value = text;
		return true;
	case OPTION_STRINGS:
		return !vec_push((string_list *)value, text);
	case OPTION_PIDS:
		return parse_pids(text, value);
	case OPTION_NUMBER:
		if (!parse_whole(text, &end, &number) || *end)
			return false;
		break;
	case OPTION_SECONDS:
		if (!parse_seconds(text, &number))
			return false;
		break;
	case OPTION_SIZE:
		if (!parse_size(text, &number))
			return false;
		break;
	}
	if (number < option->min || number > option->max)
		return false;
	if (option->type == OPTION_NUMBER)
		*(uint32_t *)value = (uint32_t)number;
	else
		*(uint64_t *)value = number;
	return true;
}

static enum options_result bad(const struct command_spec *spec, const char *what, const char *which)
{
	fprintf(stderr, "jitbpf %s: %s '%s' (see 'jitbpf %s --help')\n", spec->name, what, which,
		spec->name);
	return OPTIONS_BAD;
}

enum options_result options_parse(const struct command_spec *spec, int argc, char **argv,
				  void *values, int *ret_operand)
{
	int at;

	for (at = 1; at < argc; at++) {
		const char *arg = argv[at], *text = NULL, *equals = NULL;
		const struct option_spec *option;

		if (arg[0] != '-' || !arg[1])
			break;
		if (!strcmp(arg, "--")) {
			at++;
			break;
		}
		if (!strcmp(arg, "-h") || !strcmp(arg, "--help")) {
			print_help(spec);
			return OPTIONS_HELP;
		}
		if (arg[1] == '-') {
			equals = strchrnul(arg, '=');
			option = find_option(spec, 0, arg + 2, (size_t)(equals - arg) - 2);
			text = *equals ? equals + 1 : NULL;
		} else {
			option = find_option(spec, arg[1], NULL, 0);
			text = arg[2] ? arg + 2 : NULL; /* -F99 */
		}
		if (!option || (option->type == OPTION_FLAG && text))
			return bad(spec, "unknown option", arg);
		if (option->type != OPTION_FLAG && !text) {
			if (at + 1 == argc)
				return bad(spec, "an argument is missing after", arg);
			text = argv[++at];
		}
		if (!set_value(option, text, values))
			return bad(spec, "bad value", text);
	}
	*ret_operand = at;
	return OPTIONS_OK;
}
