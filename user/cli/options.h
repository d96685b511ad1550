/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Command-line options: one table per command is its parser, its defaults and
 * its help at once.
 */
#ifndef JITBPF_CLI_OPTIONS_H
#define JITBPF_CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum option_type {
	OPTION_FLAG,	/* bool */
	OPTION_NUMBER,	/* uint32_t, within [min, max] */
	OPTION_SECONDS, /* uint64_t, ns; given in seconds, may have a fraction */
	OPTION_SIZE,	/* uint64_t, bytes; K, M and G are understood */
	OPTION_STRING,	/* const char * */
	OPTION_STRINGS, /* string_list, one more each time */
	OPTION_PIDS,	/* pid_list, comma-separated */
};

typedef VEC(const char *) string_list;
typedef VEC(uint32_t) pid_list;

struct option_spec {
	char short_name;       /* 0: none */
	const char *long_name; /* NULL: none */
	enum option_type type;
	size_t offset;	      /* of the value in the command's options */
	const char *argument; /* its name in the help; NULL for a flag */
	const char *help;
	uint64_t min, max; /* of a NUMBER, SECONDS or SIZE */
};

struct command_spec {
	const char *name;
	const char *usage; /* operands, for the help */
	const char *summary;
	const struct option_spec *options;
	size_t option_count;
	int (*run)(const struct command_spec *spec, int argc, char **argv); /* exit status */
};

enum options_result {
	OPTIONS_OK,
	OPTIONS_HELP, /* help was printed */
	OPTIONS_BAD,  /* what is wrong was printed */
};

/*
 * Parse argv[1..] into values, which holds the defaults. Options end at the first
 * operand or behind "--"; *ret_operand is the index of the first operand.
 */
enum options_result options_parse(const struct command_spec *spec, int argc, char **argv,
				  void *values, int *ret_operand);

#endif
