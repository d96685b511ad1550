/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/options/perf_words.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/scope.h"

struct perf_word {
	const char *const *commands; /* that take it as an option; NULL: it is a command */
	const char *word;
	const char *advice;
};

static const char *const recording[] = {"record", "live", "top", NULL};
static const char *const showing[] = {"report", "annotate", NULL};
static const char *const reporting[] = {"report", NULL};
static const char *const annotating[] = {"annotate", NULL};

#define STACKS "stacks are always recorded, whole and without frame pointers: leave it out"
#define PERIOD                                                                                     \
	"CPU time is sampled at a rate: use -F HZ; -e NAME:N sets the period of another event"
#define CPUS  "all CPUs are sampled: leave it out; -p, -u and -G choose processes"
#define ORDER "use --sort self, or --sort total, which counts callees, too"
#define INPUT "the recording is an operand: jitbpf report FILE.jitbpf"

static const struct perf_word words[] = {
	{NULL, "script", "use 'jitbpf report -f script'"},
	{NULL, "flamegraph", "use 'jitbpf report -o FILE.html', or -f folded for other scripts"},
	{NULL, "inject", "JIT code is named while it is recorded: 'jitbpf report' shows it"},
	{NULL, "archive", "a recording has all names and needs no other file: copy it"},
	{NULL, "load", "use 'jitbpf report -o FILE.html', and open that in a browser"},
	{NULL, "stat", "jitbpf counts no events: 'jitbpf record' takes samples"},
	{recording, "-g", STACKS},
	{recording, "--call-graph", STACKS},
	{recording, "-c", PERIOD},
	{recording, "--count", PERIOD},
	{recording, "-t", "use -p with its process; 'jitbpf report --thread' shows one thread"},
	{recording, "--tid", "use -p with its process; 'jitbpf report --thread' shows one thread"},
	{recording, "-C", CPUS},
	{recording, "--cpu", CPUS},
	{recording, "--all-cpus", "use -a, or --all"},
	{showing, "-i", INPUT},
	{showing, "--input", INPUT},
	{showing, "--stdio", "text is the default: 'jitbpf report -f top' has functions"},
	{reporting, "-n", "tables have numbers of samples: leave it out"},
	{reporting, "-s", ORDER},
	{reporting, "--children", ORDER},
	{reporting, "--no-children", ORDER},
	{annotating, "-s", "the function is an operand: jitbpf annotate FUNCTION"},
	{annotating, "--symbol", "the function is an operand: jitbpf annotate FUNCTION"},
	{showing, "-g", "'jitbpf report -f top' has the hot part of the call tree"},
};

const char *perf_command_advice(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!words[i].commands && !strcmp(words[i].word, name))
			return words[i].advice;
	}
	return NULL;
}

static bool is_of(const struct perf_word *word, const char *command)
{
	for (const char *const *at = word->commands; at && *at; at++) {
		if (!strcmp(*at, command))
			return true;
	}
	return false;
}

const char *perf_option_advice(const char *command, const char *arg)
{
	size_t bytes = strcspn(arg, "=");

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (is_of(&words[i], command) && strlen(words[i].word) == bytes &&
		    !memcmp(words[i].word, arg, bytes))
			return words[i].advice;
	}
	return NULL;
}
