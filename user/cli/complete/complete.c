/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/complete/complete.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/complete/complete_state.h"
#include "cli/options/option_help.h"
#include "run/messages/say.h"
#include "run/outputs/outputs.h"
#include "sink/write/out.h"
#include "sink/write/text.h"

#define ABOUT_COLUMNS 60

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

size_t completion_plain_bytes(const char *text)
{
	size_t bytes = 0;

	while (is_plain_sign(text[bytes]))
		bytes++;
	return bytes;
}

static bool is_plain(const char *text)
{
	return !text[completion_plain_bytes(text)];
}

void completion_add(struct completion *completion, const char *rest, const char *about, char *comm)
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

void completion_say_kind(struct completion *completion, const char *kind)
{
	size_t at = strlen(completion->kind);

	snprintf(completion->kind + at, sizeof(completion->kind) - at, "%s%s", at ? " " : "", kind);
}

/* --- the command line ------------------------------------------------------------ */

static void add_option(struct completion *completion, const struct option_spec *option)
{
	char name[64];

	snprintf(name, sizeof(name), "--%s", option->long_name);
	completion_add(completion, name, option->help, NULL);
	if (option->short_name && strlen(completion->word) <= 2) {
		snprintf(name, sizeof(name), "-%c", option->short_name);
		completion_add(completion, name, option->help, NULL);
	}
}

/* Returns the option whose name an argument is, up to a '='. */
static const struct option_spec *option_of_long(const struct command_spec *spec, const char *word)
{
	size_t bytes = strcspn(word, "=");
	const struct option_spec *option;

	for (size_t i = 0; (option = command_option(spec, i, NULL)); i++) {
		if (strlen(option->long_name) + 2 == bytes &&
		    begins_with(word + 2, option->long_name))
			return option;
	}
	return NULL;
}

static const struct option_spec *option_of_short(const struct command_spec *spec, char short_name)
{
	const struct option_spec *option;

	for (size_t i = 0; (option = command_option(spec, i, NULL)); i++) {
		if (option->short_name && option->short_name == short_name)
			return option;
	}
	return NULL;
}

/* Returns the option whose value is the word after this one, or NULL: -p, -ap, --pid. */
static const struct option_spec *option_before_value(const struct command_spec *spec,
						     const char *word)
{
	const struct option_spec *option = NULL;

	if (word[1] == '-')
		option = strchr(word, '=') ? NULL : option_of_long(spec, word);
	for (const char *at = word + 1; word[1] != '-' && *at; at++) {
		option = option_of_short(spec, *at);
		if (!option || option->type != OPTION_FLAG)
			return at[1] ? NULL : option;
	}
	return option && option->type != OPTION_FLAG ? option : NULL;
}

/* Complete a word that is not the value of the option before. */
static void complete_word(struct completion *completion, const struct command_spec *spec)
{
	const char *equals = strchr(completion->word, '=');
	const struct option_spec *option;

	if (completion->word[0] != '-') {
		completion_add_candidates(completion, spec->operands, NULL);
	} else if (begins_with(completion->word, "--") && equals) {
		option = option_of_long(spec, completion->word);
		completion->fixed = (size_t)(equals + 1 - completion->word);
		if (option && option->type != OPTION_FLAG)
			completion_add_values(completion, option);
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
			completion_add_values(completion, waits);
		else if (waits)
			waits = NULL;
		else if ((ended || word[0] != '-') && spec->takes_command) {
			snprintf(kind, sizeof(kind), "command %d", i + 2);
			completion_say_kind(completion, kind);
			return;
		} else if (last && ended)
			completion_add_candidates(completion, spec->operands, NULL);
		else if (last)
			complete_word(completion, spec);
		else if (!strcmp(word, "--"))
			ended = true;
		else if (!ended && word[0] == '-' && word[1])
			waits = option_before_value(spec, word);
		else {
			completion->operands++;
			if (ends_with(word, RECORDING_EXTENSION))
				completion->recording = word;
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
		completion_add_candidates(&completion, CANDIDATES_COMMANDS, NULL);
	else if (spec)
		complete_in(&completion, spec, words + 1, count - 1);
	return write_all(&completion, out);
}

static int run(const struct command_spec *spec, int argc, char **argv)
{
	int err;

	if (argc < 4) {
		say("usage: jitbpf complete bash|zsh|fish TYPE WORD...\n");
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
