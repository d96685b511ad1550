/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jitbpf explain: what the terms of the summary and of its JSON mean. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/scope.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options/suggestion.h"
#include "run/messages/say.h"
#include "run/messages/terminal.h"
#include "sink/ledger_terms.h"
#include "sink/write/escapes.h"
#include "sink/write/out.h"
#include "sink/write/paragraph.h"
#include "sink/write/text_table.h"

#define INDENT	   2
#define COLUMNS	   80 /* of text that is no table */
#define TEXT_MAX   256
#define PATH_BYTES 96

struct explanation {
	struct text text;
	bool colours;
	size_t found;
};

static void put_sentence(struct text *text, const char *label, const char *words)
{
	if (!words)
		return;
	text_printf(text, "%*s%s", INDENT, "", label);
	paragraph_put(text, words, INDENT + (uint32_t)strlen(label), INDENT, COLUMNS);
	text_put_string(text, "\n");
}

static void put_term(struct explanation *to, const struct ledger_word *term, const char *group)
{
	struct text *text = &to->text;

	text_printf(text, "%s%s%s%s  (%s%s)\n", to->found++ ? "\n" : "",
		    to->colours ? ESCAPE_BOLD : "", term->words + strspn(term->words, " "),
		    to->colours ? ESCAPE_PLAIN : "", group, term->key);
	put_sentence(text, "", term->means);
	put_sentence(text, "Why: ", term->why);
	put_sentence(text, "Next: ", term->next);
}

static void put_all(struct text *text, bool colours)
{
	static const struct text_column columns[] = {{"TERM", true}, {"IN THE SUMMARY", true}};
	CLEANUP(text_table_deinit)
	struct text_table table = {.columns = columns, .column_count = ARRAY_SIZE(columns)};
	const struct ledger_word *term;
	const char *group;

	for (size_t i = 0; (term = ledger_term_at(i, &group)); i++) {
		char path[PATH_BYTES];

		snprintf(path, sizeof(path), "%s%s", group, term->key);
		text_table_add(&table, path);
		text_table_add(&table, term->words + strspn(term->words, " "));
	}
	text_table_put(&table, text, terminal_columns(STDOUT_FILENO), colours);
}

/* Print that a text is no term, and no part of one. */
static void say_unknown(const char *said)
{
	struct suggestion suggestion = {.word = said, .word_bytes = strlen(said)};
	const struct ledger_word *term;
	const char *near;

	for (size_t i = 0; (term = ledger_term_at(i, NULL)); i++) {
		suggestion_add(&suggestion, term->key);
		if (strcasecmp(term->key, term->words) != 0)
			suggestion_add(&suggestion, term->words);
	}
	near = suggestion_get(&suggestion);
	if (near)
		say("jitbpf explain: unknown term '%s': did you mean '%s'?", said, near);
	else
		say("jitbpf explain: unknown term '%s'", said);
	say(" ('jitbpf explain' lists all terms)\n");
}

/* Print the terms of which a text is a part. */
static void say_parts(const char *said)
{
	const struct ledger_word *term;
	const char *group;

	say("jitbpf explain: '%s' is a part of several terms: type more of one of these\n", said);
	for (size_t i = 0; (term = ledger_term_at(i, &group)); i++) {
		if (ledger_term_has(term, group, said))
			say("%*s%s  (%s%s)\n", INDENT, "", term->words + strspn(term->words, " "),
			    group, term->key);
	}
}

typedef bool term_test(const struct ledger_word *term, const char *group, const char *text);

/* Put the terms that a text matches by is_meant(). Returns their number. */
static size_t put_terms(struct explanation *to, const char *said, term_test *is_meant)
{
	const struct ledger_word *term;
	const char *group;

	for (size_t i = 0; (term = ledger_term_at(i, &group)); i++) {
		if (is_meant(term, group, said))
			put_term(to, term, group);
	}
	return to->found;
}

/* Outputs show it in place of frames or names, such as [cut]. */
static bool shows(const struct ledger_word *term, const char *group, const char *text)
{
	return text[0] == '[' && ends_with(text, "]") && strstr(term->means, text);
}

/* A line of the summary can begin with a count, such as "1,024  samples without ...". */
static const char *after_count(const char *said)
{
	size_t spaces = strspn(said, " "), bytes = spaces + strspn(said + spaces, "0123456789,");

	return said[bytes] == ' ' ? said + bytes : said;
}

/* Explain a term, or the only one of which a text is a part. Returns OPTIONS_OK or OPTIONS_BAD. */
static int put_said(struct explanation *to, const char *said)
{
	struct explanation parts = {.colours = to->colours};

	if (put_terms(to, said, ledger_term_is) || put_terms(to, after_count(said), ledger_term_is))
		return OPTIONS_OK;
	if (put_terms(&parts, said, ledger_term_has) == 1 ||
	    (!parts.found && put_terms(&parts, said, shows) == 1)) {
		*to = parts;
		return OPTIONS_OK;
	}
	if (parts.found)
		say_parts(said);
	else
		say_unknown(said);
	text_deinit(&parts.text);
	return OPTIONS_BAD;
}

/* Returns false if the words are longer than any term. */
static bool join(char **words, int count, char said[TEXT_MAX])
{
	size_t used = 0;

	for (int i = 0; i < count; i++) {
		int bytes = snprintf(said + used, TEXT_MAX - used, "%s%s", i ? " " : "", words[i]);

		if (bytes < 0 || (size_t)bytes >= TEXT_MAX - used)
			return false;
		used += (size_t)bytes;
	}
	return true;
}

static int explain(char **words, int count)
{
	struct explanation to = {.colours = terminal_has_colours(STDOUT_FILENO, VIEW_COLOR_AUTO)};
	char said[TEXT_MAX] = "";
	int err, status = OPTIONS_OK;

	if (!join(words, count, said)) {
		say_unknown(words[0]);
		return EXIT_USAGE;
	}
	if (count)
		status = put_said(&to, said);
	else
		put_all(&to.text, to.colours);
	if (status != OPTIONS_OK) {
		text_deinit(&to.text);
		return status;
	}
	err = text_write(&to.text, stdout);
	err = err ?: out_flush(stdout);
	text_deinit(&to.text);
	if (err)
		say("jitbpf explain: the output was not written: %s\n", strerror(-err));
	return err ? 1 : 0;
}

static int run(const struct command_spec *spec, int argc, char **argv)
{
	int operand, status = options_parse(spec, argc, argv, NULL, &operand);

	return status == OPTIONS_OK ? explain(argv + operand, argc - operand) : status;
}

const struct command_spec command_explain = {
	.name = "explain",
	.usage = "[TERM]",
	.summary = "say what a term of the summary means, why it happens, and what to do",
	.operands = CANDIDATES_TERMS,
	.run = run,
};
