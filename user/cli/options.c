/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/options.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"

#define HELP_COLUMN 30
#define HELP_END    90

/*
 * Returns option number i of a command, its own options first, and sets
 * *ret_value to its value. Returns NULL after the last option.
 */
static const struct option_spec *option_at(const struct command_spec *spec, size_t i, void *values,
					   void **ret_value)
{
	struct option_table table = {spec->options, spec->option_count};
	size_t offset = 0;

	for (size_t next = 0; i >= table.count; next++) {
		if (next == OPTION_TABLES_MAX || !spec->shared[next].table)
			return NULL;
		i -= table.count;
		table = *spec->shared[next].table;
		offset = spec->shared[next].offset;
	}
	*ret_value = (char *)values + offset + table.options[i].offset;
	return &table.options[i];
}

/* Print "a, b or c" for a choice, "a, b, c" for a set. */
static void print_choices(FILE *out, const struct option_spec *option)
{
	for (size_t i = 0; option->choices[i]; i++) {
		bool last = !option->choices[i + 1] && option->type == OPTION_CHOICE;

		fprintf(out, "%s%s", !i ? "" : last ? " or " : ", ", option->choices[i]);
	}
}

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

static void print_option(const struct option_spec *option)
{
	AUTO_FREE char *words = NULL;
	size_t size;
	FILE *text = open_memstream(&words, &size);
	int left = printf("  %c%c%s--%s%s%s", option->short_name ? '-' : ' ',
			  option->short_name ? option->short_name : ' ',
			  option->short_name ? ", " : "  ", option->long_name,
			  option->argument ? " " : "", option->argument ? option->argument : "");

	if (left < HELP_COLUMN)
		printf("%*s", HELP_COLUMN - left, "");
	else
		printf("\n%*s", HELP_COLUMN, "");
	if (!text)
		return;
	fprintf(text, "%s%s", option->help, option->choices ? ": " : "");
	if (option->choices)
		print_choices(text, option);
	if (!fclose(text))
		print_column(words);
}

static void print_help(const struct command_spec *spec)
{
	static const struct option_spec help = {'h', "help", OPTION_FLAG, .help = "show this help"};
	const struct option_spec *option;
	void *value;

	printf("usage: jitbpf %s %s\n\n%s\n\noptions:\n", spec->name, spec->usage, spec->summary);
	for (size_t i = 0; (option = option_at(spec, i, NULL, &value)); i++)
		print_option(option);
	print_option(&help);
}

static const struct option_spec *find_option(const struct command_spec *spec, char short_name,
					     const char *long_name, size_t long_bytes, void *values,
					     void **ret_value)
{
	const struct option_spec *option;

	for (size_t i = 0; (option = option_at(spec, i, values, ret_value)); i++) {
		if (short_name && option->short_name == short_name)
			return option;
		if (long_name && strlen(option->long_name) == long_bytes &&
		    !memcmp(option->long_name, long_name, long_bytes))
			return option;
	}
	return NULL;
}

/* Parse a decimal number at the start of text. Sets *ret_end to the first character after it. */
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

static bool find_choice(const struct option_spec *option, const char *name, size_t bytes,
			uint32_t *ret)
{
	for (uint32_t i = 0; option->choices[i]; i++) {
		if (strlen(option->choices[i]) == bytes &&
		    !memcmp(option->choices[i], name, bytes)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

static bool parse_set(const struct option_spec *option, const char *text, uint32_t *value)
{
	bool relative = *text == '+' || *text == '-';
	uint32_t set = relative ? *value ?: option->empty_set : 0, choice;

	for (bool more = true; more; text++) {
		bool removes = relative && *text == '-';
		const char *end;

		if (relative && *text != '+' && *text != '-')
			return false;
		text += relative;
		end = strchrnul(text, ',');
		if (!find_choice(option, text, (size_t)(end - text), &choice))
			return false;
		set = removes ? set & ~(1u << choice) : set | 1u << choice;
		more = *end;
		text = end;
	}
	*value = set;
	return set != 0;
}

static bool set_value(const struct option_spec *option, const char *text, void *value)
{
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
	case OPTION_CHOICE:
		return find_choice(option, text, strlen(text), value);
	case OPTION_SET:
		return parse_set(option, text, value);
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

/* Print the expected kind of value. */
static void print_wanted(const struct option_spec *option)
{
	switch (option->type) {
	case OPTION_NUMBER:
		fprintf(stderr, "a number from %" PRIu64 " to %" PRIu64, option->min, option->max);
		break;
	case OPTION_SIZE:
		fprintf(stderr, "a size from %" PRIu64 " to %" PRIu64 " bytes, such as 64K or 16M",
			option->min, option->max);
		break;
	case OPTION_SECONDS:
		fprintf(stderr, "seconds, such as 10 or 0.5");
		break;
	case OPTION_PIDS:
		fprintf(stderr, "comma-separated numbers above 0");
		break;
	case OPTION_SET:
		fprintf(stderr, "some of ");
		print_choices(stderr, option);
		break;
	case OPTION_CHOICE:
		print_choices(stderr, option);
		break;
	default:
		fprintf(stderr, "a value");
	}
}

static enum options_result bad_value(const struct command_spec *spec,
				     const struct option_spec *option, const char *text)
{
	fprintf(stderr, "jitbpf %s: invalid value '%s' for --%s: expected ", spec->name, text,
		option->long_name);
	print_wanted(option);
	fprintf(stderr, "\n");
	return OPTIONS_BAD;
}

enum options_result options_parse(const struct command_spec *spec, int argc, char **argv,
				  void *values, int *ret_operand)
{
	int at, operands = 0;

	for (at = 1; at < argc; at++) {
		const char *arg = argv[at], *text = NULL, *equals = NULL;
		const struct option_spec *option;
		void *value;

		if (arg[0] != '-' || !arg[1]) {
			if (spec->takes_command)
				break;
			argv[1 + operands++] = argv[at]; /* over the options that were parsed */
			continue;
		}
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
			option = find_option(spec, 0, arg + 2, (size_t)(equals - arg) - 2, values,
					     &value);
			text = *equals ? equals + 1 : NULL;
		} else {
			option = find_option(spec, arg[1], NULL, 0, values, &value);
			text = arg[2] ? arg + 2 : NULL; /* -F99 */
		}
		if (!option || (option->type == OPTION_FLAG && text))
			return bad(spec, "unknown option", arg);
		if (option->type != OPTION_FLAG && !text) {
			if (at + 1 == argc)
				return bad(spec, "missing argument of option", arg);
			text = argv[++at];
		}
		if (!set_value(option, text, value))
			return bad_value(spec, option, text);
	}
	*ret_operand = at - operands;
	memmove(&argv[*ret_operand], &argv[1], (size_t)operands * sizeof(*argv));
	return OPTIONS_OK;
}

void options_release(const struct command_spec *spec, void *values)
{
	const struct option_spec *option;
	void *value;

	for (size_t i = 0; (option = option_at(spec, i, values, &value)); i++) {
		if (option->type == OPTION_STRINGS)
			vec_deinit((string_list *)value);
		else if (option->type == OPTION_PIDS)
			vec_deinit((pid_list *)value);
	}
}
