/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/programs/engine/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"

enum kind { SECONDS, NUMBER, TEXT, FLAG };

/* A row defines the parser, the bounds and the help of an option. */
static const struct row {
	const char *name;
	enum kind kind;
	size_t offset;
	uint64_t min, max;
	const char *help;
} rows[] = {
#define AT(member) offsetof(struct options, member)
	{"seconds", SECONDS, AT(seconds), 0, 86400,
	 "how long to run; each thread that runs code takes as much CPU time, too [5; hostile: 1]"},
	{"rate", NUMBER, AT(rate), 0, 100000000,
	 "loads a second of all threads, 0 as fast as possible [1000]"},
	{"loads", NUMBER, AT(loads), 0, UINT32_MAX,
	 "storm: of each thread; it then only runs what it has, 0 without limit [0]"},
	{"slots", NUMBER, AT(slots), 1, 1u << 20, "addresses of each thread [16]"},
	{"threads", NUMBER, AT(threads), 1, 1024, "[1]"},
	{"iterations", NUMBER, AT(iterations), 1, UINT32_MAX,
	 "of a function's loop, about 1 ns each [30000]"},
	{"bytes", NUMBER, AT(bytes), 96, 1u << 20, "loads: size of one record [200]"},
	{"code-bytes", NUMBER, AT(code_bytes), 64, 1u << 30, "size of a function [64]"},
	{"depth", NUMBER, AT(depth), 1, 100000,
	 "deep: how many times the function is called [100]"},
	{"name", TEXT, AT(name), 0, 0,
	 "hot, hostile: the function's name; storm: that of all functions"},
	{"dump", TEXT, AT(dump), 0, 0,
	 "folder for a jitdump file of all loads but those of loads mode"},
	{"no-api", FLAG, AT(no_api), 0, 0, "do not use the JIT Profiling API"},
	{"file", TEXT, AT(file), 0, 0, "api: the script [standard input]"},
	{"how", TEXT, AT(how), 0, 0,
	 "stale: unmap, fixed, protect, move, write or link; then -constants or -calls [unmap]"},
	{"forge", FLAG, AT(forge), 0, 0, "hostile: fire the probe itself, with garbage"},
	{"help", FLAG, AT(help), 0, 0, ""},
#undef AT
};

void options_help(void)
{
	puts("A small JIT engine that publishes its code through the JIT Profiling API.\n\n"
	     "jit-engine MODE [OPTION...]\n"
	     "  storm    rewrite functions at the same addresses, each under a new name, and run them\n"
	     "  hot      run one function\n"
	     "  frames   as storm, three functions deep, each with a frame of another form and size\n"
	     "  deep     run one function that calls itself\n"
	     "  loads    send loads, run nothing; tell what one costs\n"
	     "  api      send the events of a script, one a line (see api_script.c)\n"
	     "  stale    replace published functions by others without a report\n"
	     "  hostile  send what no engine should, and run one honest function\n");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		printf("  --%-12s%s\n", rows[i].name, rows[i].help);
}

static const struct row *row_find(const char *name, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strlen(rows[i].name) == size && memcmp(rows[i].name, name, size) == 0)
			return &rows[i];
	}
	return NULL;
}

static int value_parse(const struct row *row, const char *text, void *member)
{
	uint64_t number;
	double seconds;
	char *end;

	errno = 0;
	switch (row->kind) {
	case SECONDS:
		seconds = strtod(text, &end);
		if (end == text || *end || !(seconds >= 0 && seconds <= (double)row->max))
			return -EINVAL;
		*(double *)member = seconds;
		return 0;
	case NUMBER:
		number = strtoull(text, &end, 0);
		if (end == text || *end || errno || *text == '-' || number < row->min ||
		    number > row->max)
			return -EINVAL;
		*(uint64_t *)member = number;
		return 0;
	default:
		*(const char **)member = text;
		return 0;
	}
}

/* Parse the option at argv[*at] and advance *at. */
static int option_parse(char **argv, int *at, struct options *options)
{
	const char *word = argv[(*at)++] + 2;
	size_t size = strcspn(word, "=");
	const struct row *row = row_find(word, size);
	const char *value = word[size] ? word + size + 1 : NULL;
	void *member;

	if (!row) {
		fprintf(stderr, "jit-engine: no option --%s\n", word);
		return -EINVAL;
	}
	member = (char *)options + row->offset;
	if (row->kind == FLAG) {
		*(bool *)member = true;
		return value ? -EINVAL : 0;
	}
	if (!value && argv[*at])
		value = argv[(*at)++];
	if (!value || value_parse(row, value, member)) {
		fprintf(stderr, "jit-engine: --%s: bad value\n", row->name);
		return -EINVAL;
	}
	return 0;
}

int options_parse(int argc, char **argv, struct options *ret)
{
	struct options options = {
		.seconds = -1,
		.rate = 1000,
		.slots = 16,
		.threads = 1,
		.iterations = 30000,
		.bytes = 200,
		.code_bytes = 64,
		.depth = 100,
	};
	int at = 1, err;

	while (at < argc) {
		if (strncmp(argv[at], "--", 2) == 0) {
			err = option_parse(argv, &at, &options);
			if (err)
				return err;
		} else if (!options.mode) {
			options.mode = argv[at++];
		} else {
			fprintf(stderr, "jit-engine: a second mode: %s\n", argv[at]);
			return -EINVAL;
		}
	}
	if (!options.mode && !options.help) {
		fputs("jit-engine: which mode? See --help\n", stderr);
		return -EINVAL;
	}
	if (options.seconds < 0)
		options.seconds = options.mode && strcmp(options.mode, "hostile") == 0 ? 1 : 5;
	*ret = options;
	return 0;
}
