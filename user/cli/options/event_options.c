/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/options/event_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "run/messages/say.h"
#include "sink/sink.h"
#include "sink/view_options.h"

/* Of an event; the kernel refuses periods from 2^63 on. */
#define PERIOD_MAX 1000000000000ull

static const struct option_spec options[] = {
	{'e', "event", OPTION_STRING, offsetof(struct view_options, event), "NAME",
	 "show this event of the recording instead of CPU time (cpu-time)",
	 .candidates = CANDIDATES_WORDS, .words = event_words},
};

const struct option_table shown_event_option_table = {options, ARRAY_SIZE(options)};

#define NAME(name, unit, config, period) name,
const char *const event_words[] = {RUN_CPU_TIME, SOFTWARE_EVENTS(NAME) NULL};
#undef NAME

static const struct software_event *find(const char *name, size_t bytes)
{
	const struct software_event *event;

	for (size_t i = 0; (event = software_event_at(i)); i++) {
		if (strlen(event->name) == bytes && !memcmp(event->name, name, bytes))
			return event;
	}
	return NULL;
}

static bool is_cpu_time(const char *name, size_t bytes)
{
	static const char *const names[] = {RUN_CPU_TIME, "cpu-clock", "cycles", "cpu-cycles"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strlen(names[i]) == bytes && !memcmp(names[i], name, bytes))
			return true;
	}
	return false;
}

static void say_unknown(const char *command, const char *name, size_t bytes)
{
	const struct software_event *event;

	if (is_cpu_time(name, bytes)) {
		say("jitbpf %s: -e %.*s: CPU time is always sampled, at the rate of -F: leave "
		    "it out\n",
		    command, (int)bytes, name);
		return;
	}
	say("jitbpf %s: -e: unknown event '%.*s': use", command, (int)bytes, name);
	for (size_t i = 0; (event = software_event_at(i)); i++)
		say("%s %s", i ? "," : "", event->name);
	say("; NAME:PERIOD sets how many of them make a sample\n");
}

static bool parse_period(const char *text, const char *end, uint64_t *ret)
{
	char *rest;

	errno = 0;
	*ret = strtoull(text, &rest, 10);
	return *text >= '0' && *text <= '9' && rest == end && !errno && *ret && *ret <= PERIOD_MAX;
}

/* Parse one item of a list, [text, end). */
static enum options_result add(const char *command, const char *text, const char *end,
			       struct chosen_events *ret)
{
	const char *colon = memchr(text, ':', (size_t)(end - text));
	size_t name_bytes = (size_t)((colon ?: end) - text);
	struct chosen_event chosen = {.event = find(text, name_bytes)};

	if (!chosen.event) {
		say_unknown(command, text, name_bytes);
		return OPTIONS_BAD;
	}
	chosen.period = chosen.event->period;
	if (colon && !parse_period(colon + 1, end, &chosen.period)) {
		say("jitbpf %s: -e %.*s: the period must be a number from 1 to %llu\n", command,
		    (int)(end - text), text, PERIOD_MAX);
		return OPTIONS_BAD;
	}
	for (size_t i = 0; i < ret->count; i++) {
		if (ret->chosen[i].event == chosen.event) {
			say("jitbpf %s: -e %s is given twice\n", command, chosen.event->name);
			return OPTIONS_BAD;
		}
	}
	/* There are fewer known events than room. */
	ret->chosen[ret->count++] = chosen;
	return OPTIONS_OK;
}

enum options_result events_parse(const char *command, const string_list *values,
				 struct chosen_events *ret)
{
	*ret = (struct chosen_events){0};
	vec_for_each (value, values) {
		for (const char *at = *value;; at++) {
			const char *end = at + strcspn(at, ",");
			enum options_result result = add(command, at, end, ret);

			if (result != OPTIONS_OK)
				return result;
			at = end;
			if (!*at)
				break;
		}
	}
	return OPTIONS_OK;
}

bool events_check_shown(const char *command, const struct chosen_events *events, const char *name)
{
	if (!name || is_cpu_time(name, strlen(name)))
		return true;
	for (size_t i = 0; i < events->count; i++) {
		if (!strcmp(events->chosen[i].event->name, name))
			return true;
	}
	say("jitbpf %s: --show-event %s: this run does not sample it: add -e %s\n", command, name,
	    name);
	return false;
}
