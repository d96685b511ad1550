/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/options/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/options/option_help.h"
#include "cli/options/option_values.h"
#include "cli/options/perf_words.h"
#include "cli/options/suggestion.h"
#include "run/messages/say.h"

const struct option_spec *command_option(const struct command_spec *spec, size_t i,
					 size_t *ret_offset)
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
	if (ret_offset)
		*ret_offset = offset + table.options[i].offset;
	return &table.options[i];
}

/* As command_option(), with the place of the value in values. */
static const struct option_spec *option_at(const struct command_spec *spec, size_t i, void *values,
					   void **ret_value)
{
	size_t offset;
	const struct option_spec *option = command_option(spec, i, &offset);

	if (option)
		*ret_value = (char *)values + offset;
	return option;
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

/* Returns the option whose long name an argument has after a single dash, or NULL. */
static const struct option_spec *after_one_dash(const struct command_spec *spec, const char *arg)
{
	size_t bytes = strcspn(arg + 1, "=");
	const struct option_spec *option;

	for (size_t i = 0; (option = command_option(spec, i, NULL)); i++) {
		if (arg[1] != '-' && strlen(option->long_name) == bytes &&
		    begins_with(arg + 1, option->long_name))
			return option;
	}
	return NULL;
}

/* Returns the long name of the option that is most similar to an invalid argument, or NULL. */
static const char *suggest_option(const struct command_spec *spec, const char *arg)
{
	const char *name = arg + (arg[1] == '-' ? 2 : 1);
	struct suggestion suggestion = {.word = name, .word_bytes = strcspn(name, "=")};
	const struct option_spec *option = after_one_dash(spec, arg);

	if (option)
		return option->long_name;
	for (size_t i = 0; arg[1] == '-' && (option = command_option(spec, i, NULL)); i++)
		suggestion_add(&suggestion, option->long_name);
	suggestion_add(&suggestion, option_help.long_name);
	return suggestion_get(&suggestion);
}

/* End a message. arg is one that may be mistyped, or NULL. */
static enum options_result end_message(const struct command_spec *spec, const char *arg)
{
	const char *near = arg ? suggest_option(spec, arg) : NULL;

	if (near)
		say(": did you mean '--%s'?", near);
	say(" (see 'jitbpf help %s')\n", spec->name);
	return OPTIONS_BAD;
}

static enum options_result bad(const struct command_spec *spec, const char *what, const char *arg,
			       bool mistyped)
{
	say("jitbpf %s: %s '%s'", spec->name, what, arg);
	return end_message(spec, mistyped ? arg : NULL);
}

/* An option of another profiler, or one that is mistyped. arg is the whole argument, "-ag". */
static enum options_result unknown(const struct command_spec *spec, const char *option,
				   const char *arg)
{
	const char *advice = perf_option_advice(spec->name, option);

	if (!advice && option == arg)
		return bad(spec, "unknown option", arg, true);
	say("jitbpf %s: unknown option '%s'", spec->name, option);
	if (option != arg)
		say(" in '%s'", arg);
	if (!advice)
		return end_message(spec, arg);
	say(": %s\n", advice);
	return OPTIONS_BAD;
}

/* A second value would replace the first one, without a word. */
static bool is_given_twice(const struct option_spec *option, const char *text, const void *value)
{
	const char *const *first = value;

	return option->type == OPTION_STRING && *first && strcmp(*first, text) != 0;
}

static enum options_result bad_value(const struct command_spec *spec,
				     const struct option_spec *option, const char *text,
				     const char *arg)
{
	bool mistyped = arg[1] != '-' && arg[2];

	say("jitbpf %s: invalid value '%s' for --%s: expected ", spec->name, text,
	    option->long_name);
	option_print_wanted(stderr, option);
	return end_message(spec, mistyped ? arg : NULL);
}

/* The arguments while they are parsed. */
struct parse {
	const struct command_spec *spec;
	int argc, at;
	char **argv;
	void *values;
};

/* Set an option to a text, which may be the next argument. arg: where the option was. */
static enum options_result take(struct parse *parse, const struct option_spec *option,
				const char *text, const char *arg, void *value)
{
	if (!text && parse->at + 1 == parse->argc)
		return bad(parse->spec, "missing value of option", arg, false);
	text = text ?: parse->argv[++parse->at];
	if (is_given_twice(option, text, value))
		return bad(parse->spec, "the option has another value already:", arg, false);
	return option_set_value(option, text, value) ? OPTIONS_OK
						     : bad_value(parse->spec, option, text, arg);
}

/* --freq 99, --freq=99 */
static enum options_result parse_long(struct parse *parse, const char *arg)
{
	const char *equals = strchrnul(arg, '=');
	void *value;
	const struct option_spec *option = find_option(
		parse->spec, 0, arg + 2, (size_t)(equals - arg) - 2, parse->values, &value);

	if (!option)
		return unknown(parse->spec, arg, arg);
	if (option->type != OPTION_FLAG)
		return take(parse, option, *equals ? equals + 1 : NULL, arg, value);
	if (*equals)
		return bad(parse->spec, "the option takes no value:", arg, false);
	option_set_value(option, NULL, value);
	return OPTIONS_OK;
}

/* -F 99, -F99, -aF99. A long name after one dash is refused: -pid would be -p with the name "id".
 */
static enum options_result parse_short(struct parse *parse, const char *arg)
{
	if (after_one_dash(parse->spec, arg))
		return bad(parse->spec, "unknown option", arg, true);
	for (const char *at = arg + 1; *at; at++) {
		char alone[] = {'-', *at, 0};
		void *value;
		const struct option_spec *option =
			find_option(parse->spec, *at, NULL, 0, parse->values, &value);

		if (!option)
			return unknown(parse->spec, arg[2] ? alone : arg, arg);
		if (option->type != OPTION_FLAG)
			return take(parse, option, at[1] ? at + 1 : NULL, arg, value);
		option_set_value(option, NULL, value);
	}
	return OPTIONS_OK;
}

/* Such as for an empty variable of a script: no command would mean the whole system. */
static enum options_result refuse_no_command(const struct command_spec *spec)
{
	say("jitbpf %s: a command is missing after '--'", spec->name);
	return end_message(spec, NULL);
}

enum options_result options_parse(const struct command_spec *spec, int argc, char **argv,
				  void *values, int *ret_operand)
{
	struct parse parse = {.spec = spec, .argc = argc, .argv = argv, .values = values};
	enum options_result result;
	int operands = 0;

	for (parse.at = 1; parse.at < argc; parse.at++) {
		const char *arg = argv[parse.at];

		if (arg[0] != '-' || !arg[1]) {
			if (spec->takes_command)
				break;
			argv[1 + operands++] = argv[parse.at]; /* over what was parsed */
			continue;
		}
		if (!strcmp(arg, "--")) {
			if (++parse.at == argc && spec->takes_command)
				return refuse_no_command(spec);
			break;
		}
		if (!strcmp(arg, "-h") || !strcmp(arg, "--help"))
			return option_help_print(spec) ? OPTIONS_FAILED : OPTIONS_HELP;
		result = arg[1] == '-' ? parse_long(&parse, arg) : parse_short(&parse, arg);
		if (result != OPTIONS_OK)
			return result;
	}
	*ret_operand = parse.at - operands;
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
