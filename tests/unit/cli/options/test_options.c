/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "cli/options/filter_options.h"
#include "cli/options/option_values.h"
#include "cli/options/rotation_value.h"
#include "cli/options/suggestion.h"
#include "cli/options/view_options.h"
#include "tests/unit/cases.h"

struct values {
	bool flag, yes;
	uint32_t number;
	uint64_t size, ns;
	const char *text;
	string_list texts;
	pid_list pids;
	struct filter_options filter;
	struct view_options view;
};

#define FIELD(name) offsetof(struct values, name)

static const struct option_spec options[] = {
	{'x', "flag", OPTION_FLAG, FIELD(flag), NULL, "a flag"},
	{'y', "yes", OPTION_FLAG, FIELD(yes), NULL, "another flag"},
	{'n', "number", OPTION_NUMBER, FIELD(number), "N", "a number", 1, 9},
	{0, "size", OPTION_SIZE, FIELD(size), "SIZE", "a size", 1, 1u << 30},
	{0, "seconds", OPTION_SECONDS, FIELD(ns), "SEC", "seconds", 0, UINT64_MAX},
	{0, "text", OPTION_STRING, FIELD(text), "TEXT", "a text"},
	{'t', "texts", OPTION_STRINGS, FIELD(texts), "TEXT", "texts"},
	{'p', "pids", OPTION_PIDS, FIELD(pids), "PID", "numbers"},
};

static const struct command_spec spec = {
	.name = "test",
	.usage = "[options]",
	.summary = "for a test",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = {{&filter_option_table, FIELD(filter)},
		   {&view_option_table, FIELD(view)},
		   {&script_option_table, FIELD(view)}},
};

#define ARGS_MAX 16

static char rest[256]; /* the operands, separated by spaces */

/* Parse space-separated arguments. Sets *ret_operand to the index of the first operand. */
static int parse(const char *line, struct values *values, int *ret_operand)
{
	static char copy[256];
	char *argv[ARGS_MAX] = {"test"};
	int argc = 1, result;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *arg = strtok(copy, " "); arg && argc < ARGS_MAX; arg = strtok(NULL, " "))
		argv[argc++] = arg;
	*values = (struct values){0};
	result = options_parse(&spec, argc, argv, values, ret_operand);
	*rest = 0;
	for (int i = *ret_operand; result == OPTIONS_OK && i < argc; i++)
		snprintf(rest + strlen(rest), sizeof(rest) - strlen(rest), "%s%s", *rest ? " " : "",
			 argv[i]);
	return result;
}

CASE(values_of_all_types)
{
	struct values v;
	int operand;

	assert_int_equal(
		parse("-x -n9 --size=2M --seconds 0.5 -t a --texts=b -p 1,22", &v, &operand),
		OPTIONS_OK);
	assert_true(v.flag);
	assert_int_equal(v.number, 9);
	assert_int_equal(v.size, 2 << 20);
	assert_int_equal(v.ns, 500000000);
	assert_int_equal(v.texts.size, 2);
	assert_string_equal(v.texts.data[1], "b");
	assert_int_equal(v.pids.size, 2);
	assert_int_equal(v.pids.data[1], 22);
	options_release(&spec, &v);
	assert_int_equal(parse("--text t -- -x", &v, &operand), OPTIONS_OK);
	assert_int_equal(operand, 4);
	assert_false(v.flag);
	options_release(&spec, &v);
}

CASE(operands_may_stand_anywhere)
{
	static const struct {
		const char *line, *operands;
		bool flag;
	} rows[] = {
		{"a -x b -n 3 c", "a b c", true},
		{"a b", "a b", false},
		{"-x a", "a", true},
		{"a -x -- -n b", "a -n b", true},
		{"a -- -x", "a -x", false},
		{"- -x -", "- -", true},
	};
	const struct command_spec of_another = {
		.name = "test",
		.options = options,
		.option_count = ARRAY_SIZE(options),
		.takes_command = true,
	};
	char *argv[] = {"test", "-x", "a", "-n", "b"};
	struct values v = {0};
	int operand;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(parse(rows[i].line, &v, &operand), OPTIONS_OK);
		assert_string_equal(rest, rows[i].operands);
		assert_int_equal(v.flag, rows[i].flag);
	}
	assert_int_equal(parse("a -n", &v, &operand), OPTIONS_BAD);
	v = (struct values){0};
	assert_int_equal(options_parse(&of_another, ARRAY_SIZE(argv), argv, &v, &operand),
			 OPTIONS_OK);
	assert_int_equal(operand, 2);
	assert_string_equal(argv[3], "-n");
}

CASE(shared_options_stand_where_the_command_has_them)
{
	struct values v;
	int operand;

	assert_int_equal(parse("--by=tid --kernel no --no-inline operand", &v, &operand),
			 OPTIONS_OK);
	assert_int_equal(v.view.by, VIEW_BY_TID);
	assert_int_equal(v.view.kernel, VIEW_KERNEL_HIDDEN);
	assert_true(v.view.no_inline);
	assert_false(v.view.no_demangle);
	assert_int_equal(operand, 5);
	assert_int_equal(parse("--to 2 --thread 5 --kernel=yes --by comm", &v, &operand),
			 OPTIONS_OK);
	assert_int_equal(v.view.kernel, VIEW_KERNEL_SHOWN);
	assert_int_equal(v.view.by, VIEW_BY_COMM);
	assert_int_equal(v.filter.to_ns, 2000000000);
	assert_int_equal(v.filter.tids.data[0], 5);
	options_release(&spec, &v);
}

CASE(short_options_can_be_joined)
{
	static const struct {
		const char *line;
		bool flag, yes;
		uint32_t number;
		const char *operands;
	} rows[] = {
		{"-xy", true, true, 0, ""},	{"-yx a", true, true, 0, "a"},
		{"-xn9", true, false, 9, ""},	{"-xyn 9 a", true, true, 9, "a"},
		{"-n9 -y", false, true, 9, ""}, {"-tx", false, false, 0, ""},
		{"-xx b", true, false, 0, "b"},
	};
	static const char *const refused[] = {"-xz", "-xn", "-xnx", "-xyz", "-x=1", "-xy-",
					      /* a long name: -texts would be -t with "exts" */
					      "-texts", "-texts=a", "-flag", "-pids", "-number=3"};
	struct values v;
	int operand;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (parse(rows[i].line, &v, &operand) != OPTIONS_OK || v.flag != rows[i].flag ||
		    v.yes != rows[i].yes || v.number != rows[i].number ||
		    strcmp(rest, rows[i].operands) != 0)
			fail_msg("'%s' is misread", rows[i].line);
		options_release(&spec, &v);
	}
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		if (parse(refused[i], &v, &operand) != OPTIONS_BAD)
			fail_msg("'%s' is taken", refused[i]);
		options_release(&spec, &v);
	}
}

CASE(sets_are_lists_or_changes)
{
	static const struct {
		const char *line;
		uint32_t fields;
	} rows[] = {
		{"--fields pid,comm", 1u << SCRIPT_PID | 1u << SCRIPT_COMM},
		{"--fields=+srcline", SCRIPT_FIELDS_DEFAULT | 1u << SCRIPT_SRCLINE},
		{"--fields -cpu,+srcline,-srcline", SCRIPT_FIELDS_DEFAULT & ~(1u << SCRIPT_CPU)},
		{"--fields ip --fields +sym", 1u << SCRIPT_IP | 1u << SCRIPT_SYM},
	};
	struct values v;
	int operand;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(parse(rows[i].line, &v, &operand), OPTIONS_OK);
		assert_int_equal(v.view.fields, rows[i].fields);
	}
}

CASE(a_time_that_is_none_is_refused)
{
	struct values v;
	int operand;

	assert_int_equal(parse("--from 1 --to 2", &v, &operand), OPTIONS_OK);
	assert_true(filter_options_check(&v.filter));
	assert_int_equal(parse("--from 1", &v, &operand), OPTIONS_OK);
	assert_true(filter_options_check(&v.filter));
	assert_int_equal(parse("--from 2 --to 2", &v, &operand), OPTIONS_OK);
	assert_false(filter_options_check(&v.filter));
}

CASE(what_is_wrong_is_refused)
{
	static const char *const lines[] = {
		"-n 0",
		"-n 10",
		"-n 1x",
		"-n",
		"--size 2T",
		"--size 0",
		"--seconds -1",
		"--seconds nan",
		"--seconds inf",
		"--seconds ms",
		"--seconds .",
		"--seconds 0x10",
		"--seconds 1.5.2",
		"--seconds 5x",
		"--seconds 2M",
		"--seconds 1m30",
		"--seconds 277778h",
		"--seconds=",
		"-p 1,",
		"-p 0",
		"-p 99999999999",
		"--flag=1",
		"--nothing",
		"-z",
		"--by",
		"--by co",
		"--by comma",
		"--by=",
		"--fields=",
		"--fields ip,",
		"--fields ,ip",
		"--fields ip,+sym",
		"--fields +sym,ip",
		"--fields +",
		"--fields i",
		/* an empty set */
		"--fields ip --fields -ip",
		"--kernel maybe",
	};
	struct values v;
	int operand;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		if (parse(lines[i], &v, &operand) != OPTIONS_BAD)
			fail_msg("'%s' is taken", lines[i]);
		options_release(&spec, &v);
	}
}

CASE(a_second_text_is_refused)
{
	struct values v;
	int operand;

	assert_int_equal(parse("--text a --text b", &v, &operand), OPTIONS_BAD);
	options_release(&spec, &v);
	assert_int_equal(parse("--text a --text=a -t b -t c -n1 -n2", &v, &operand), OPTIONS_OK);
	assert_string_equal(v.text, "a");
	assert_int_equal(v.texts.size, 2);
	assert_int_equal(v.number, 2);
	options_release(&spec, &v);
}

CASE(durations_have_units)
{
	static const struct {
		const char *line;
		uint64_t ns;
	} rows[] = {
		{"--seconds 0", 0},
		{"--seconds 10", 10000000000},
		{"--seconds 0.3", 300000000},
		{"--seconds .5", 500000000},
		{"--seconds 10s", 10000000000},
		{"--seconds 500ms", 500000000},
		{"--seconds 0.001ms", 1000},
		{"--seconds 2m", 120000000000},
		{"--seconds 1.5m", 90000000000},
		{"--seconds=1h", 3600000000000},
		{"--seconds 277777h", 999997200000000000},
	};
	struct values v;
	int operand;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (parse(rows[i].line, &v, &operand) != OPTIONS_OK || v.ns != rows[i].ns)
			fail_msg("'%s' is %llu ns", rows[i].line, (unsigned long long)v.ns);
	}
}

CASE(sizes_have_units)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {
		{"0", 0},
		{"4096", 4096},
		{"64K", 64 << 10},
		{"64k", 64 << 10},
		{"2M", 2 << 20},
		{"1.5G", 3ull << 29},
		{"1KB", 1000},
		{"1.5MB", 1500000},
		{"2gb", 2000000000},
		{"1.0G", 1ull << 30},
		{"18446744073709551615", UINT64_MAX},
		{"17179869183G", 17179869183ull << 30},
	};
	static const char *const refused[] = {
		"",	 "K",	 "1.5",		 "1.",	   "1.K",
		"1..5K", "-1",	 "+1",		 "1T",	   "1KiB",
		"1 GB",	 "1e3K", "0x10",	 "1BB",	   "18446744073709551616",
		"B",	 "1.5B", ".5G",		 "1.5.5M", "nan",
		"1KBB",	 "1K5",	 "17179869184G",
	};
	uint64_t bytes;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!size_parse(rows[i].text, &bytes) || bytes != rows[i].bytes)
			fail_msg("'%s' is %llu", rows[i].text, (unsigned long long)bytes);
	}
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		bytes = 77;
		if (size_parse(refused[i], &bytes) || bytes != 77)
			fail_msg("'%s' is taken", refused[i]);
	}
}

CASE(rotation_is_a_time_or_a_size)
{
	static const struct {
		const char *text;
		uint64_t period_ns, size_bytes;
	} rows[] = {
		{"60", 60000000000, 0},	   {"10s", 10000000000, 0}, {"2m", 120000000000, 0},
		{"1h", 3600000000000, 0},  {"2M", 0, 2u << 20},	    {"1.5G", 0, 3ull << 29},
		{"1000ms", 1000000000, 0},
	};
	static const char *const refused[] = {"",   "0",    "0.5", "999ms", "1K", "2T",
					      "-1", "1M1m", "nan", "m",	    "M"};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rotation_options rotation = {.rotate = rows[i].text};

		assert_true(rotation_parse(&rotation));
		assert_int_equal(rotation.period_ns, rows[i].period_ns);
		assert_int_equal(rotation.size_bytes, rows[i].size_bytes);
	}
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct rotation_options rotation = {.rotate = refused[i]};

		if (rotation_parse(&rotation))
			fail_msg("'%s' is taken", refused[i]);
	}
}

/* Returns what is suggested for a word, or "". */
static const char *suggest(const char *word)
{
	/* A name may come again: a key of `jitbpf explain` can be in several groups. */
	static const char *const names[] = {"record",	 "report", "list", "live",
					    "no-inline", "no-x",   "list", "record"};
	struct suggestion suggestion = {.word = word, .word_bytes = strlen(word)};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		suggestion_add(&suggestion, names[i]);
	return suggestion_get(&suggestion) ?: "";
}

CASE(one_edit_or_a_beginning_is_suggested)
{
	static const struct {
		const char *word, *name;
	} rows[] = {
		{"recrod", "record"}, {"ecord", "record"}, {"records", "record"},
		{"retord", "record"}, {"reconr", ""},	   {"rec", "record"},
		{"re", ""},	      {"r", ""},	   {"", ""},
		{"lisp", "list"},     {"lis", "list"},	   {"lit", "list"},
		{"li", ""},	      {"live", ""},	   {"lvie", "live"},
		{"liste", "list"},    {"no-", "no-x"},	   {"no-in", "no-inline"},
		{"no-y", "no-x"},     {"inline", ""},	   {"reportrt", ""},
		{"recordrecord", ""}, {"no-linine", ""},   {"on-x", "no-x"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(suggest(rows[i].word), rows[i].name) != 0)
			fail_msg("'%s' for '%s'", suggest(rows[i].word), rows[i].word);
	}
}
