/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/scope.h"
#include "base/text.h"
#include "cli/complete/complete.h"
#include "tests/unit/cases.h"

#define WORDS_MAX 16

/* Complete space-separated words, "_" for an empty one. The caller frees the lines. */
static char *complete(const char *shell, const char *type, const char *line)
{
	char copy[256], *words[WORDS_MAX], *lines = NULL;
	size_t size;
	FILE *out = open_memstream(&lines, &size);
	int count = 0;

	assert_non_null(out);
	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		words[count++] = strcmp(word, "_") ? word : "";
	assert_int_equal(complete_write(out, shell, type, words, count), 0);
	assert_int_equal(fclose(out), 0);
	return lines;
}

CASE(words_have_candidates)
{
	static const struct {
		const char *shell, *line, *lines;
	} rows[] = {
		{"bash", "re", "words\nrecord\nreport\n"},
		{"bash", "nothing --", "words\n"},
		{"bash", "complet", "words\n"},
		{"fish", "report --js", "words\n--json\twrite the summary as JSON\n"},
		{"bash", "report --by", "words\n--by\n"},
		{"bash", "report --by _", "words\ncomm\npid\ntid\ncontainer\n"},
		{"zsh", "report --by=_", "words\n"},
		{"zsh", "report --by=p", "words\n--by=pid\n"},
		{"bash", "report --by = p", "words\npid\n"},
		{"bash", "report --by =", "words\ncomm\npid\ntid\ncontainer\n"},
		{"bash", "report --by = pid --kernel =", "words\nyes\nno\n"},
		{"zsh", "report --json=", "words\n"},
		{"zsh", "report --fields comm,ti", "words\ncomm,tid\ncomm,time\ncomm,tier\n"},
		{"zsh", "report --fields=+sr", "words\n--fields=+srcline\n"},
		{"zsh", "report _", "files .jitbpf\n"},
		{"zsh", "report -- -", "files .jitbpf\n"},
		{"zsh", "report --shim", "words\n"},
		{"zsh", "record --shim _", "files\n"},
		{"zsh", "record -F _", "words\n"},
		{"zsh", "record _", "command 2\n"},
		{"zsh", "record -F 99 -- php -d _", "command 5\n"},
		{"zsh", "record -F99 php --by", "command 3\n"},
		{"zsh", "record -q php", "command 3\n"},
		{"zsh", "diff -o x/y.h", "files .txt .folded .html\nx/y.html\n"},
		{"zsh", "diff -o x$(y).h", "files .txt .folded .html\n"},
		{"zsh", "diff -o .", "files .txt .folded .html\n"},
		{"bash", "diff --format = h", "words\nhtml\n"},
		{"zsh", "help do",
		 "words\ndoctor\tshow what this machine offers to a recording, and "
		 "what to...\n"},
		{"bash", "=", "words\n"},
		{"bash", "record = =", "command 2\n"},
		{"bash", "--by =", "words\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO_FREE char *lines = complete(rows[i].shell, "9", rows[i].line);

		if (strcmp(lines, rows[i].lines) != 0)
			fail_msg("'%s' has\n%s", rows[i].line, lines);
	}
}

/* The name of this process controls terminals, and is several lines and commands. */
CASE(names_of_processes_are_descriptions)
{
	char line[64], pid[16], expected[64];
	AUTO_FREE char *zsh = NULL, *bash = NULL, *list = NULL;
	const char *row;

	assert_int_equal(prctl(PR_SET_NAME, "a) \x1b[m\n\t$(x)\xff"), 0);
	snprintf(pid, sizeof(pid), "%d", getpid());
	snprintf(line, sizeof(line), "record -p 1,%s", pid);
	zsh = complete("zsh", "", line);
	bash = complete("bash", "63", line);
	snprintf(expected, sizeof(expected), "1,%s\ta) ", pid);
	row = strstr(zsh, expected);
	assert_non_null(row);
	for (; *row && *row != '\n'; row++)
		assert_true(*row == '\t' || (*row >= ' ' && *row < 0x7f));
	/* Alone, it would be inserted with its description. */
	snprintf(expected, sizeof(expected), "1,%s\n", pid);
	assert_non_null(strstr(bash, expected));
	list = complete("bash", "63", "record -p _");
	snprintf(expected, sizeof(expected), "\n%s  (a) ", pid);
	assert_non_null(strstr(list, expected));
	assert_null(strchr(list, '\x1b'));
}

CASE(names_of_processes_are_candidates)
{
	static const struct {
		const char *name, *line, *lines;
	} rows[] = {
		{"x-jitbpf:1/2", "record -p x-jit", "x-jitbpf:1/2\tall processes of this name\n"},
		{"x-jitbpf", "record -p 1,x-jit", "1,x-jitbpf\tall processes of this name\n"},
		/* unsafe in a shell */
		{"x-jitbpf;id", "record -p x-jit", ""},
		{"x-jitbpf$(id)", "record -p x-jit", ""},
		{"x-jitbpf\nid", "record -p x-jit", ""},
		{"x-jitbpf", "list -p x-jit", "x-jitbpf\tall processes of this name\n"},
		{"x-jitbpf", "record -qap x-jit", "x-jitbpf\tall processes of this name\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO_FREE char *lines = NULL;

		assert_int_equal(prctl(PR_SET_NAME, rows[i].name), 0);
		lines = complete("zsh", "", rows[i].line);
		assert_true(begins_with(lines, "words\n"));
		assert_string_equal(lines + strlen("words\n"), rows[i].lines);
	}
}

CASE(a_stat_has_a_name_of_any_bytes)
{
	static const struct {
		const char *text, *comm;
	} rows[] = {
		{"7 (a) R 1 7 7 0 -1 4194304 1 2", "a"},
		{"7 (a) S 1 2) R 1 7 7 0 -1 0 1 2", "a) S 1 2"},
		{"7 (()) R 1 7 7 0 -1 0 1", "()"},
		{"7 () R 1 7 7 0 -1 0 1", ""},
		{"7 (kthreadd) S 0 0 0 0 -1 2129984 0", NULL},
		{"7 (a) R 1 7 7 0", NULL},
		{"7 )a( R 1 7 7 0 -1 0 1", NULL},
		{"7 (a", NULL},
		{"", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[64];
		const char *comm = "";
		bool taken;

		snprintf(text, sizeof(text), "%s", rows[i].text);
		taken = complete_read_stat(text, &comm);
		assert_int_equal(taken, rows[i].comm != NULL);
		if (taken)
			assert_string_equal(comm, rows[i].comm);
	}
}
