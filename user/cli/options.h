/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Command-line options: one table per command is its parser, its defaults and
 * its help at once.
 */
#ifndef JITBPF_CLI_OPTIONS_H
#define JITBPF_CLI_OPTIONS_H

#include <stdbool.h>
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
	OPTION_CHOICE,	/* uint32_t: which of the choices */
	/*
	 * uint32_t, a bit for each choice: of those listed, comma-separated; or, where each
	 * begins with '+' or '-', of what was set before, with and without those.
	 */
	OPTION_SET,
};

typedef VEC(const char *) string_list;
typedef VEC(uint32_t) pid_list;

struct option_spec {
	char short_name; /* 0: none */
	const char *long_name;
	enum option_type type;
	size_t offset;	      /* of the value in the command's options */
	const char *argument; /* its name in the help; NULL for a flag */
	const char *help;
	uint64_t min, max;	    /* of a NUMBER, SECONDS or SIZE */
	const char *const *choices; /* of a CHOICE or SET: names, and a NULL */
	uint32_t empty_set;	    /* of a SET: what it is while its value is 0 */
};

#define OPTION_TABLES_MAX 3 /* that a command shares */

struct option_table {
	const struct option_spec *options;
	size_t count;
};

struct command_spec {
	const char *name;
	const char *usage; /* operands, for the help */
	const char *summary;
	const struct option_spec *options;
	size_t option_count;
	/* Those that other commands have too, and where in the command's options their values are.
	 */
	struct shared_options {
		const struct option_table *table; /* NULL: no more */
		size_t offset;
	} shared[OPTION_TABLES_MAX];
	bool takes_command; /* its operands: an option behind the first one is that command's */
	int (*run)(const struct command_spec *spec, int argc, char **argv); /* exit status */
};

/* But for OPTIONS_OK, the status to exit with. */
enum options_result {
	OPTIONS_OK = -1,
	OPTIONS_HELP = 0, /* help was printed */
	OPTIONS_BAD = 2,  /* what is wrong was printed */
};

/*
 * Parse argv[1..] into values, which holds the defaults. Options end behind "--", or at
 * the first operand of a command that takes another; else operands may stand between
 * them, and are moved behind them. *ret_operand is the index of the first operand.
 * Whatever it returns, options_release() is due.
 */
enum options_result options_parse(const struct command_spec *spec, int argc, char **argv,
				  void *values, int *ret_operand);

/* Free the lists in values. */
void options_release(const struct command_spec *spec, void *values);

#endif
