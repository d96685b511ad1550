/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options that choose events: those that a run samples, and the one that outputs show. */
#ifndef JITBPF_CLI_OPTIONS_EVENT_OPTIONS_H
#define JITBPF_CLI_OPTIONS_EVENT_OPTIONS_H

#include "agent/kernel/events/software_events.h"
#include "cli/options/options.h"

/* -e of commands that show recordings; its value is a struct view_options. */
extern const struct option_table shown_event_option_table;

/* Names of the events that -e of record takes, terminated by NULL. */
extern const char *const event_words[];

/*
 * Parse the values of -e of a command that records, such as "record": comma-separated lists of NAME
 * or NAME:PERIOD. Returns OPTIONS_OK, or OPTIONS_BAD after a message.
 */
enum options_result events_parse(const char *command, const string_list *values,
				 struct chosen_events *ret);

/*
 * Returns true if --show-event names CPU time or one of the chosen events; NULL is CPU time. Else
 * prints a message.
 */
bool events_check_shown(const char *command, const struct chosen_events *events, const char *name);

#endif
