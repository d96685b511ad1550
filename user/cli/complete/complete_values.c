/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Candidates for values: words, processes, files, and names in recordings. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/kernel/proc/process_scan.h"
#include "base/scope.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/complete/complete_recorded.h"
#include "cli/complete/complete_state.h"
#include "run/outputs/outputs.h"
#include "sink/ledger_terms.h"
#include "sink/sink.h"

#define WORD_MAX 4096

static void add_words(struct completion *completion, const char *const *words)
{
	for (; words && *words; words++)
		completion_add(completion, *words, NULL, NULL);
}

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

/*
 * Add the name of a process once, if the word begins it: there are thousands of some names. A comma
 * separates names, and a number is a pid.
 */
static void add_name(struct completion *completion, const char *comm)
{
	const char *typed = completion->word + completion->fixed;

	if (!*typed || !begins_with(comm, typed) || strchr(comm, ',') ||
	    !comm[strspn(comm, "0123456789")])
		return;
	vec_for_each (candidate, &completion->candidates) {
		if (!strcmp(candidate->value + completion->fixed, comm))
			return;
	}
	completion_add(completion, comm, "all processes of this name", NULL);
}

static void add_process(struct completion *completion, uint32_t pid)
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
	completion_add(completion, number, NULL, strdup(comm));
	add_name(completion, comm);
}

static void add_processes(struct completion *completion)
{
	process_pids pids = {0};

	if (!process_scan_list(&pids)) {
		vec_for_each (pid, &pids)
			add_process(completion, *pid);
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
		completion_say_kind(completion, *extensions);
		if (end > name && snprintf(rest, sizeof(rest), "%.*s%s", (int)(end - typed), typed,
					   *extensions) < (int)sizeof(rest))
			completion_add(completion, rest, NULL, NULL);
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
			completion_add(completion, spec->name, spec->summary, NULL);
	}
}

static void add_terms(struct completion *completion)
{
	const struct ledger_word *term;
	const char *group;

	for (size_t i = 0; (term = ledger_term_at(i, &group)); i++) {
		char path[96];

		snprintf(path, sizeof(path), "%s%s", group, term->key);
		completion_add(completion, path, term->words + strspn(term->words, " "), NULL);
		completion_add(completion, term->key, term->words + strspn(term->words, " "), NULL);
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
		bytes = completion_plain_bytes(name + at);
		if (bytes > longest && name[at] != '-') {
			begin = at;
			longest = bytes;
		}
	}
	name[begin + longest] = 0;
	if (longest && !has(completion, name + begin))
		completion_add(completion, name + begin, NULL, NULL);
}

static void add_functions(struct completion *completion)
{
	CLEANUP(recorded_names_deinit) recorded_names names = {0};

	if (complete_functions(RECORDING_DEFAULT, &names))
		return;
	vec_for_each (name, &names)
		add_function(completion, *name);
}

static void add_containers(struct completion *completion)
{
	CLEANUP(recorded_names_deinit) recorded_names names = {0};

	if (complete_containers(completion->recording ?: RECORDING_DEFAULT, &names))
		return;
	vec_for_each (name, &names)
		completion_add(completion, *name, NULL, NULL);
}

void completion_add_candidates(struct completion *completion, enum candidates candidates,
			       const char *const *words)
{
	if (candidates == CANDIDATES_FUNCTIONS && completion->operands)
		candidates = CANDIDATES_RECORDINGS;
	if (candidates == CANDIDATES_FILES || candidates == CANDIDATES_RECORDINGS ||
	    candidates == CANDIDATES_OUTPUTS)
		completion_say_kind(completion, "files");
	switch (candidates) {
	case CANDIDATES_WORDS:
		add_words(completion, words);
		break;
	case CANDIDATES_RECORDINGS:
		completion_say_kind(completion, RECORDING_EXTENSION);
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
	case CANDIDATES_NAMES:
		fix_list(completion, "");
		add_processes(completion);
		break;
	case CANDIDATES_USERS:
		completion_add_users(completion);
		break;
	case CANDIDATES_CGROUPS:
		completion_add_cgroups(completion);
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
	case CANDIDATES_CONTAINERS:
		add_containers(completion);
		break;
	default:
		break;
	}
}

void completion_add_values(struct completion *completion, const struct option_spec *option)
{
	bool file = option->argument && !strcmp(option->argument, "FILE");

	if (option->type == OPTION_SET)
		fix_list(completion, "+-");
	if (option->choices)
		add_words(completion, option->choices);
	else
		completion_add_candidates(completion,
					  option->candidates
						  ?: file ? CANDIDATES_FILES
							  : CANDIDATES_NONE,
					  option->words);
}
