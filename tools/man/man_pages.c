/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * man_pages SOURCES FOLDER VERSION DATE: write the manual pages of all commands, in man(7), to
 * FOLDER. Names, options and references come from the tables of the commands. SOURCES/NAME.man, if
 * it exists, has the other sections. In it, the lines ".\" OPTIONS", ".\" COMMANDS" and
 * ".\" TERMS" are replaced by the contents of the tables.
 *
 * Roff is written here, since a page has four macros; so a build needs no other program.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options/option_help.h"
#include "sink/ledger_terms.h"

struct pages {
	const char *sources, *folder, *version, *date;
};

/* Write text so that roff changes nothing of it. */
static void put(FILE *out, const char *text)
{
	static const struct {
		char c;
		const char *roff;
	} escapes[] = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"},
		       {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}};

	if (*text == '.')
		fputs("\\&", out);
	for (; *text; text++) {
		const char *roff = NULL;

		for (size_t i = 0; i < ARRAY_SIZE(escapes); i++) {
			if (escapes[i].c == *text)
				roff = escapes[i].roff;
		}
		if (roff)
			fputs(roff, out);
		else
			fputc(*text, out);
	}
}

static void put_as(FILE *out, char font, const char *text)
{
	fprintf(out, "\\f%c", font);
	put(out, text);
	fputs("\\fR", out);
}

static int put_option(FILE *out, const struct option_spec *option)
{
	AUTO_FREE char *text = NULL;
	char name[64];
	size_t size;
	FILE *memory = open_memstream(&text, &size);
	int err;

	if (!memory)
		return -ENOMEM;
	err = option_write_text(memory, option);
	if (fclose(memory) || err)
		return -ENOMEM;
	fputs(".TP\n", out);
	if (option->short_name) {
		snprintf(name, sizeof(name), "-%c", option->short_name);
		put_as(out, 'B', name);
		fputs(", ", out);
	}
	snprintf(name, sizeof(name), "--%s", option->long_name);
	put_as(out, 'B', name);
	if (option->argument) {
		fputc(' ', out);
		put_as(out, 'I', option->argument);
	}
	fputc('\n', out);
	put(out, text);
	fputc('\n', out);
	return 0;
}

static int put_options(FILE *out, const struct command_spec *spec)
{
	const struct option_spec *option;
	int err = 0;

	fputs(".SH OPTIONS\n", out);
	for (size_t i = 0; !err && (option = command_option(spec, i, NULL)); i++)
		err = put_option(out, option);
	return err ?: put_option(out, &option_help);
}

static int put_commands(FILE *out, const struct command_spec *spec)
{
	fputs(".SH COMMANDS\n", out);
	for (size_t i = 0; (spec = command_at(i)); i++) {
		if (spec->hidden)
			continue;
		fprintf(out, ".TP\n.BR jitbpf\\-%s (1)\n", spec->name);
		put(out, spec->summary);
		fputc('\n', out);
	}
	return 0;
}

static void put_terms(FILE *out)
{
	const struct ledger_word *term;
	const char *group;

	fputs(".SH TERMS\n", out);
	for (size_t i = 0; (term = ledger_term_at(i, &group)); i++) {
		const struct {
			const char *label, *text;
		} parts[] = {{"", term->means}, {"Why: ", term->why}, {"Next: ", term->next}};

		fputs(".TP\n", out);
		put_as(out, 'B', term->words + strspn(term->words, " "));
		fputs(" (", out);
		put(out, group);
		put(out, term->key);
		fputs(")\n", out);
		for (size_t part = 0; part < ARRAY_SIZE(parts); part++) {
			if (!parts[part].text)
				continue;
			fputs(part ? ".br\n" : "", out);
			put(out, parts[part].label);
			put(out, parts[part].text);
			fputc('\n', out);
		}
	}
}

static void put_references(FILE *out, const struct command_spec *spec)
{
	const struct command_spec *other;
	const char *before = "";

	fputs(".SH SEE ALSO\n", out);
	if (spec) {
		fputs(".BR jitbpf (1)", out);
		before = ",\n";
	}
	for (size_t i = 0; (other = command_at(i)); i++) {
		if (other->hidden || other == spec)
			continue;
		fprintf(out, "%s.BR jitbpf\\-%s (1)", before, other->name);
		before = ",\n";
	}
	fputc('\n', out);
}

/* Returns a negative errno if the table cannot be written. */
static int put_source(FILE *out, FILE *source, const struct command_spec *spec)
{
	AUTO_FREE char *line = NULL;
	size_t size = 0;
	int err = 0;

	while (!err && getline(&line, &size, source) > 0) {
		if (!strcmp(line, ".\\\" OPTIONS\n"))
			err = put_options(out, spec);
		else if (!strcmp(line, ".\\\" COMMANDS\n"))
			err = put_commands(out, spec);
		else if (!strcmp(line, ".\\\" TERMS\n"))
			put_terms(out);
		else if (!begins_with(line, ".\\\""))
			fputs(line, out);
	}
	return err;
}

/* The page of a command, or of the program if spec is NULL. */
static int write_page(const struct pages *pages, const struct command_spec *spec, FILE *out)
{
	const char *name = spec ? spec->name : "jitbpf";
	AUTO_FCLOSE FILE *source = NULL;
	char path[4096];
	int err;

	fprintf(out, ".TH JITBPF%s", spec ? "\\-" : "");
	for (const char *c = spec ? name : ""; *c; c++)
		fputc(toupper((unsigned char)*c), out);
	fprintf(out, " 1 %s \"jitbpf %s\" \"jitbpf\"\n.SH NAME\njitbpf%s%s \\- ", pages->date,
		pages->version, spec ? "\\-" : "", spec ? name : "");
	put(out, spec ? spec->summary : "system-wide sampling profiler that names JIT code");
	fputs("\n.SH SYNOPSIS\n", out);
	put_as(out, 'B', "jitbpf");
	fputc(' ', out);
	if (spec)
		put_as(out, 'B', name);
	fputc(' ', out);
	put(out, spec ? spec->usage : "COMMAND [options] ...");
	fputc('\n', out);
	snprintf(path, sizeof(path), "%s/%s.man", pages->sources, name);
	source = fopen(path, "re");
	if (!source && errno != ENOENT)
		return -errno;
	err = source ? put_source(out, source, spec) : put_options(out, spec);
	put_references(out, spec);
	return err;
}

static int make_page(const struct pages *pages, const struct command_spec *spec)
{
	AUTO_FCLOSE FILE *out = NULL;
	char path[4096];
	int err;

	snprintf(path, sizeof(path), "%s/jitbpf%s%s.1", pages->folder, spec ? "-" : "",
		 spec ? spec->name : "");
	out = fopen(path, "we");
	if (!out)
		err = -errno;
	else
		err = write_page(pages, spec, out);
	if (!err && (fflush(out) || ferror(out)))
		err = -EIO;
	if (err)
		fprintf(stderr, "man_pages: %s: %s\n", path, strerror(-err));
	return err;
}

int main(int argc, char **argv)
{
	const struct command_spec *spec;
	struct pages pages;
	int err;

	if (argc != 5) {
		fprintf(stderr, "usage: man_pages SOURCES FOLDER VERSION DATE\n");
		return EXIT_USAGE;
	}
	pages = (struct pages){argv[1], argv[2], argv[3], argv[4]};
	err = make_page(&pages, NULL);
	for (size_t i = 0; !err && (spec = command_at(i)); i++) {
		if (!spec->hidden)
			err = make_page(&pages, spec);
	}
	return err ? 1 : 0;
}
