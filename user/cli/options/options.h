/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Command-line options. One table per command defines the parser, the value types and the help. */
#ifndef JITBPF_CLI_OPTIONS_OPTIONS_H
#define JITBPF_CLI_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lists.h"

enum option_type {
	OPTION_FLAG,	/* bool */
	OPTION_NUMBER,	/* uint32_t, within [min, max] */
	OPTION_SECONDS, /* uint64_t, ns; a duration such as 10, 0.5, 500ms, 2m or 1h */
	OPTION_SIZE,   /* uint64_t, bytes; with a suffix K, M, G (powers of 1,024), KB, MB or GB (of
			  1,000) */
	OPTION_STRING, /* const char *, by default NULL; a second, other value is refused */
	OPTION_STRINGS, /* string_list; may be repeated */
	OPTION_PIDS,	/* pid_list, comma-separated */
	OPTION_CHOICE,	/* uint32_t, index of the choice */
	/*
	 * uint32_t, a bit per choice. The value is a comma-separated list of
	 * choices. If each of them begins with '+' or '-', the list adds to and
	 * removes from the previous value.
	 */
	OPTION_SET,
};

/* What completion offers for a value or an operand (cli/complete/complete.h). */
enum candidates {
	CANDIDATES_NONE,       /* or any file, if option_spec.argument is "FILE" */
	CANDIDATES_WORDS,      /* option_spec.words */
	CANDIDATES_FILES,      /* any file */
	CANDIDATES_RECORDINGS, /* files that end in .jitbpf */
	CANDIDATES_OUTPUTS,  /* files with one of the extensions in option_spec.words (NULL: all) */
	CANDIDATES_FORMATS,  /* names of formats, as in -f of report */
	CANDIDATES_NAMES,    /* pids of this machine, and names of processes */
	CANDIDATES_USERS,    /* users who run processes */
	CANDIDATES_CGROUPS,  /* cgroups and units with processes */
	CANDIDATES_COMMANDS, /* commands of jitbpf */
	CANDIDATES_TERMS,    /* keys of the ledger's terms */
	CANDIDATES_CONTAINERS, /* containers and units of a recording: that of an operand before, or
				  the default one */
	CANDIDATES_FUNCTIONS,  /* a function of the default recording, then a recording */
};

struct option_spec {
	char short_name; /* 0 if there is none */
	const char *long_name;
	enum option_type type;
	size_t offset;	      /* of the value in the command's options */
	const char *argument; /* name in the help; NULL for a flag */
	const char *help;
	uint64_t min, max;	    /* of a NUMBER, SECONDS or SIZE */
	const char *const *choices; /* of a CHOICE or SET: names, terminated by NULL */
	uint32_t empty_set;	    /* of a SET: the value that 0 means */
	enum candidates candidates; /* not for a FLAG, CHOICE or SET */
	const char *const *words;   /* of CANDIDATES_WORDS, terminated by NULL */
};

#define OPTION_TABLES_MAX 4 /* option tables that a command shares with others */

struct option_table {
	const struct option_spec *options;
	size_t count;
};

struct command_spec {
	const char *name;
	const char *usage; /* operands, for the help text */
	const char *summary;
	const struct option_spec *options;
	size_t option_count;
	/*
	 * Tables shared with other commands, and the offset of their values in
	 * the command's options.
	 */
	struct shared_options {
		const struct option_table *table; /* NULL ends the array */
		size_t offset;
	} shared[OPTION_TABLES_MAX];
	bool takes_command; /* the operands are a command, whose options are not parsed */
	bool hidden;	    /* not in the help: for scripts of jitbpf itself */
	enum candidates operands;
	/* returns the exit status */
	int (*run)(const struct command_spec *spec, int argc, char **argv);
};

/* Result of parsing. Values other than OPTIONS_OK are exit statuses. */
enum options_result {
	OPTIONS_OK = -1,
	OPTIONS_HELP = 0,   /* help was printed */
	OPTIONS_FAILED = 1, /* help was not printed; a message was */
	OPTIONS_BAD = 2,    /* a message was printed */
};

/*
 * Returns option number i of a command, its own options first, or NULL after the last one. Sets
 * *ret_offset, unless it is NULL, to the place of the value in the command's options.
 */
const struct option_spec *command_option(const struct command_spec *spec, size_t i,
					 size_t *ret_offset);

/*
 * Parse argv[1..] into values, which holds the defaults. Options end after
 * "--", or at the first operand if the command takes a command. Otherwise
 * operands may be mixed with options, and are moved behind them. Sets
 * *ret_operand to the index of the first operand. The caller calls
 * options_release() in any case.
 */
enum options_result options_parse(const struct command_spec *spec, int argc, char **argv,
				  void *values, int *ret_operand);

/* Free the lists in values. */
void options_release(const struct command_spec *spec, void *values);

#endif
