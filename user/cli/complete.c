/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/complete.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/kernel/process_scan.h"
#include "base/scope.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/complete_functions.h"
#include "cli/option_help.h"
#include "cli/outputs.h"
#include "sink/ledger_terms.h"
#include "sink/sink.h"
#include "sink/write/out.h"
#include "sink/write/text.h"

#define ABOUT_COLUMNS 60
#define WORD_MAX      4096

struct candidate {
	char *value;
	const char *about; /* trusted, or NULL */
	char *comm;	   /* untrusted, or NULL */
};

struct completion {
	const char *shell, *type;
	const char *word; /* to be completed */
	size_t fixed;	  /* bytes of it that each candidate begins with */
	size_t operands;  /* number of operands before it */
	char kind[512];	  /* the first line */
	VEC(struct candidate) candidates;
	bool failed; /* out of memory */
};

static void completion_deinit(struct completion *completion)
{
	vec_for_each (candidate, &completion->candidates) {
		free(candidate->value);
		free(candidate->comm);
	}
	vec_deinit(&completion->candidates);
}

static bool is_plain_sign(char sign)
{
	return isascii(sign) &&
	       (isalnum((unsigned char)sign) || (sign && strchr("_.,:=+@%/-", sign)));
}

static bool is_plain(const char *text)
{
	while (is_plain_sign(*text))
		text++;
	return !*text;
}

/* Add what continues the fixed part of the word, if it begins as the rest of the word. */
static void add(struct completion *completion, const char *rest, const char *about, char *comm)
{
	struct candidate candidate = {.about = about, .comm = comm};
	const char *typed = completion->word + completion->fixed;
	bool wanted = begins_with(rest, typed) && is_plain(completion->word) && is_plain(rest);

	if (wanted && asprintf(&candidate.value, "%.*s%s", (int)completion->fixed, completion->word,
			       rest) < 0)
		candidate.value = NULL;
	if (candidate.value && !vec_push(&completion->candidates, candidate))
		return;
	completion->failed |= wanted;
	free(candidate.value);
	free(comm);
}

static void add_words(struct completion *completion, const char *const *words)
{
	for (; words && *words; words++)
		add(completion, *words, NULL, NULL);
}

static void say_kind(struct completion *completion, const char *kind)
{
	size_t at = strlen(completion->kind);

	snprintf(completion->kind + at, sizeof(completion->kind) - at, "%s%s", at ? " " : "", kind);
}

/* --- values ---------------------------------------------------------------------- */

bool complete_read_stat(char *text, const char **ret_comm)
{
	char *begin = strchr(text, '('), *end = strrchr(text, ')');
	unsigned int flags;

	/* state, parent, group, session, terminal, its group, flags */
	if (!begin || !end || end < begin ||
	    sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		return false;
	*end = 0;
	*ret_comm = begin + 1;
	return !(flags & 0x00200000); /* PF_KTHREAD */
}

/* Add the name of a process once, if the word begins it: there are thousands of some names. */
static void add_name(struct completion *completion, const char *comm)
{
	const char *typed = completion->word + completion->fixed;

	if (!*typed || !begins_with(comm, typed))
		return;
	vec_for_each (candidate, &completion->candidates) {
		if (!strcmp(candidate->value + completion->fixed, comm))
			return;
	}
	add(completion, comm, "all processes of this name", NULL);
}

static void add_process(struct completion *completion, uint32_t pid, bool names)
{
	char path[32], number[16], text[512];
	const char *comm;
	AUTO_CLOSE int fd = -1;
	ssize_t got;

	snprintf(number, sizeof(number), "%u", pid);
	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (got <= 0)
		return;
	text[got] = 0;
	if (!complete_read_stat(text, &comm))
		return;
	add(completion, number, NULL, strdup(comm));
	if (names)
		add_name(completion, comm);
}

static void add_processes(struct completion *completion, bool names)
{
	process_pids pids = {0};

	if (!process_scan_list(&pids)) {
		vec_for_each (pid, &pids)
			add_process(completion, *pid, names);
	}
	vec_deinit(&pids);
}

/* The last part of a comma-separated list is completed. */
static void fix_list(struct completion *completion, const char *signs)
{
	const char *typed = completion->word + completion->fixed, *comma = strrchr(typed, ',');

	if (comma)
		typed = comma + 1;
	if (*typed && strchr(signs, *typed))
		typed++;
	completion->fixed = (size_t)(typed - completion->word);
}

/* Files of one of the formats, and the typed name with the extension of each. */
static void add_outputs(struct completion *completion, const char *const *extensions)
{
	const char *typed = completion->word + completion->fixed;
	const char *name = strrchr(typed, '/') ? strrchr(typed, '/') + 1 : typed;
	const char *end = strchr(name, '.') ?: name + strlen(name);
	char rest[WORD_MAX];

	for (; *extensions; extensions++) {
		say_kind(completion, *extensions);
		if (end > name && snprintf(rest, sizeof(rest), "%.*s%s", (int)(end - typed), typed,
					   *extensions) < (int)sizeof(rest))
			add(completion, rest, NULL, NULL);
	}
}

/* The formats of `record` and `report`; those of the summary have no extension of their own. */
static void add_formats(struct completion *completion, bool names)
{
	const char *words[16] = {RECORDING_EXTENSION};
	const struct sink_ops *sink;
	size_t count = !names;

	for (size_t i = 0; (sink = sink_at(i)) && count + 1 < ARRAY_SIZE(words); i++) {
		if (names || !begins_with(sink->extension, ".summary"))
			words[count++] = names ? sink->name : sink->extension;
	}
	words[count] = NULL;
	if (names)
		add_words(completion, words);
	else
		add_outputs(completion, words);
}

static void add_commands(struct completion *completion)
{
	const struct command_spec *spec;

	for (size_t i = 0; (spec = command_at(i)); i++) {
		if (!spec->hidden)
			add(completion, spec->name, spec->summary, NULL);
	}
}

static void add_terms(struct completion *completion)
{
	const struct ledger_word *term;
	const char *group;

	for (size_t i = 0; (term = ledger_term_at(i, &group)); i++) {
		char path[96];

		snprintf(path, sizeof(path), "%s%s", group, term->key);
		add(completion, path, term->words + strspn(term->words, " "), NULL);
		add(completion, term->key, term->words + strspn(term->words, " "), NULL);
	}
}

static bool has(const struct completion *completion, const char *value)
{
	vec_for_each (candidate, &completion->candidates) {
		if (!strcmp(candidate->value, value))
			return true;
	}
	return false;
}

/*
 * Add the longest part of a name that shells do not expand, since `annotate` takes a part: a::b of
 * JIT$a::b, and f of f(int).
 */
static void add_function(struct completion *completion, char *name)
{
	size_t begin = 0, longest = 0, at = 0;

	name[strcspn(name, "(<")] = 0;
	for (size_t bytes; name[at]; at += bytes + !!name[at + bytes]) {
		for (bytes = 0; is_plain_sign(name[at + bytes]);)
			bytes++;
		if (bytes > longest && name[at] != '-') {
			begin = at;
			longest = bytes;
		}
	}
	name[begin + longest] = 0;
	if (longest && !has(completion, name + begin))
		add(completion, name + begin, NULL, NULL);
}

static void add_functions(struct completion *completion)
{
	CLEANUP(function_names_deinit) function_names names = {0};

	if (complete_functions(RECORDING_DEFAULT, &names))
		return;
	vec_for_each (name, &names)
		add_function(completion, *name);
}

static void add_candidates(struct completion *completion, enum candidates candidates,
			   const char *const *words)
{
	if (candidates == CANDIDATES_FUNCTIONS && completion->operands)
		candidates = CANDIDATES_RECORDINGS;
	if (candidates == CANDIDATES_FILES || candidates == CANDIDATES_RECORDINGS ||
	    candidates == CANDIDATES_OUTPUTS)
		say_kind(completion, "files");
	switch (candidates) {
	case CANDIDATES_WORDS:
		add_words(completion, words);
		break;
	case CANDIDATES_RECORDINGS:
		say_kind(completion, RECORDING_EXTENSION);
		break;
	case CANDIDATES_OUTPUTS:
		if (words)
			add_outputs(completion, words);
		else
			add_formats(completion, false);
		break;
	case CANDIDATES_FORMATS:
		add_formats(completion, true);
		break;
	case CANDIDATES_PROCESSES:
	case CANDIDATES_NAMES:
		fix_list(completion, "");
		add_processes(completion, candidates == CANDIDATES_NAMES);
		break;
	case CANDIDATES_COMMANDS:
		add_commands(completion);
		break;
	case CANDIDATES_TERMS:
		add_terms(completion);
		break;
	case CANDIDATES_FUNCTIONS:
		add_functions(completion);
		break;
	default:
		break;
	}
}

static void add_values(struct completion *completion, const struct option_spec *option)
{
	bool file = option->argument && !strcmp(option->argument, "FILE");

	if (option->type == OPTION_SET)
		fix_list(completion, "+-");
	if (option->choices)
		add_words(completion, option->choices);
	else
		add_candidates(completion,
			       option->candidates
				       ?: file ? CANDIDATES_FILES
					       : CANDIDATES_NONE,
			       option->words);
}

/* --- the command line ------------------------------------------------------------ */

static void add_option(struct completion *completion, const struct option_spec *option)
{
	char name[64];

	snprintf(name, sizeof(name), "--%s", option->long_name);
	add(completion, name, option->help, NULL);
	if (option->short_name && strlen(completion->word) <= 2) {
		snprintf(name, sizeof(name), "-%c", option->short_name);
		add(completion, name, option->help, NULL);
	}
}

/* Returns the option whose name an argument is, up to a '='. */
static const struct option_spec *option_of(const struct command_spec *spec, const char *word)
{
	size_t bytes = strcspn(word, "=");
	const struct option_spec *option;

	for (size_t i = 0; (option = command_option(spec, i, NULL)); i++) {
		if (word[1] != '-' ? option->short_name == word[1]
				   : strlen(option->long_name) + 2 == bytes &&
					     begins_with(word + 2, option->long_name))
			return option;
	}
	return NULL;
}

/* Complete a word that is not the value of the option before. */
static void complete_word(struct completion *completion, const struct command_spec *spec)
{
	const char *equals = strchr(completion->word, '=');
	const struct option_spec *option;

	if (completion->word[0] != '-') {
		add_candidates(completion, spec->operands, NULL);
	} else if (begins_with(completion->word, "--") && equals) {
		option = option_of(spec, completion->word);
		completion->fixed = (size_t)(equals + 1 - completion->word);
		if (option && option->type != OPTION_FLAG)
			add_values(completion, option);
	} else {
		for (size_t i = 0; (option = command_option(spec, i, NULL)); i++)
			add_option(completion, option);
		add_option(completion, &option_help);
	}
}

/* words are those after the command; the last one is completed. */
static void complete_in(struct completion *completion, const struct command_spec *spec,
			char **words, int count)
{
	const struct option_spec *waits = NULL; /* for its value */
	bool ended = false;			/* no options follow */
	char kind[32];

	for (int i = 0; i < count; i++) {
		const char *word = words[i];
		bool last = i + 1 == count;

		if (waits && last)
			add_values(completion, waits);
		else if (waits)
			waits = NULL;
		else if ((ended || word[0] != '-') && spec->takes_command) {
			snprintf(kind, sizeof(kind), "command %d", i + 2);
			say_kind(completion, kind);
			return;
		} else if (last && ended)
			add_candidates(completion, spec->operands, NULL);
		else if (last)
			complete_word(completion, spec);
		else if (!strcmp(word, "--"))
			ended = true;
		else if (!ended && word[0] == '-' && word[1]) {
			const struct option_spec *option = option_of(spec, word);
			bool attached = word[1] == '-' ? strchr(word, '=') != NULL : word[2] != 0;

			if (option && option->type != OPTION_FLAG && !attached)
				waits = option;
		} else {
			completion->operands++;
		}
	}
}

/*
 * bash separates words at '=': join "--by", "=" and "pid". Returns the new number of words. Sets
 * *ret_memory to what the joined words are in; the caller frees it.
 */
static int join_words(char **words, int count, char **ret_memory)
{
	size_t left = 0;
	char *at;
	int to = 0;

	for (int i = 0; i < count; i++)
		left += strlen(words[i]) + 1;
	*ret_memory = at = malloc(left + 1);
	for (int i = 0; at && i < count; i++) {
		const char *name = i ? words[i - 1] : "";

		if (strcmp(words[i], "=") != 0 || !begins_with(name, "--")) {
			words[to++] = words[i];
			continue;
		}
		words[to - 1] = at;
		i++;
		at += sprintf(at, "%s=%s", name, i < count ? words[i] : "") + 1;
	}
	return to;
}

static void put_about(struct text *text, const struct completion *completion,
		      const struct candidate *candidate)
{
	bool bash = !strcmp(completion->shell, "bash");
	/* '?', '!' and '@': bash shows the candidates. */
	int type = atoi(completion->type);
	bool lists = type > 0 && strchr("?!@", type);

	if (bash && (!candidate->comm || !lists || completion->candidates.size < 2))
		return;
	if (!candidate->comm && !candidate->about)
		return;
	text_put_string(text, bash ? "  (" : "\t");
	text_put_name_cut(text, candidate->comm ?: candidate->about, ABOUT_COLUMNS);
	if (bash)
		text_put_string(text, ")");
}

static int write_all(const struct completion *completion, FILE *out)
{
	bool bash = !strcmp(completion->shell, "bash");
	const char *equals = strchr(completion->word, '=');
	size_t skipped =
		bash && completion->word[0] == '-' && equals ? equals + 1 - completion->word : 0;
	CLEANUP(text_deinit) struct text text = {0};

	text_printf(&text, "%s\n", *completion->kind ? completion->kind : "words");
	vec_for_each (candidate, &completion->candidates) {
		text_put_string(&text, candidate->value + skipped);
		put_about(&text, completion, candidate);
		text_put_string(&text, "\n");
	}
	return completion->failed ? -ENOMEM : text_write(&text, out);
}

int complete_write(FILE *out, const char *shell, const char *type, char **words, int count)
{
	CLEANUP(completion_deinit) struct completion completion = {.shell = shell, .type = type};
	const struct command_spec *spec;
	AUTO_FREE char *joined = NULL;

	if (!strcmp(shell, "bash"))
		count = join_words(words, count, &joined);
	completion.word = count ? words[count - 1] : "";
	spec = count > 1 ? command_find(words[0]) : NULL;
	if (count == 1)
		add_commands(&completion);
	else if (spec)
		complete_in(&completion, spec, words + 1, count - 1);
	return write_all(&completion, out);
}

static int run(const struct command_spec *spec, int argc, char **argv)
{
	int err;

	if (argc < 4) {
		fprintf(stderr, "usage: jitbpf complete bash|zsh|fish TYPE WORD...\n");
		return EXIT_USAGE;
	}
	err = complete_write(stdout, argv[1], argv[2], argv + 3, argc - 3);
	return err || out_flush(stdout) ? 1 : 0;
}

const struct command_spec command_complete = {
	.name = "complete",
	.usage = "bash|zsh|fish TYPE WORD...",
	.summary = "print candidates for completion",
	.hidden = true,
	.run = run,
};
