/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "cli/options/event_options.h"
#include "tests/unit/cases.h"

static enum options_result parse(const char *first, const char *second, struct chosen_events *ret)
{
	const char *values[] = {first, second};
	string_list list = {.data = values, .size = second ? 2 : 1};

	return events_parse("record", &list, ret);
}

static void assert_bad(const char *first, const char *second)
{
	struct chosen_events events;

	assert_int_equal(parse(first, second, &events), OPTIONS_BAD);
}

CASE(test_lists)
{
	struct chosen_events events;

	assert_int_equal(parse("page-faults,context-switches:37", "cpu-migrations", &events),
			 OPTIONS_OK);
	assert_int_equal(events.count, 3);
	assert_string_equal(events.chosen[0].event->name, "page-faults");
	assert_int_equal(events.chosen[0].period, events.chosen[0].event->period);
	assert_string_equal(events.chosen[1].event->name, "context-switches");
	assert_int_equal(events.chosen[1].period, 37);
	assert_string_equal(events.chosen[2].event->name, "cpu-migrations");
	assert_int_equal(events_parse("record", &(string_list){0}, &events), OPTIONS_OK);
	assert_int_equal(events.count, 0);
}

CASE(test_refused)
{
	assert_bad("", NULL);
	assert_bad("page-faults,", NULL);
	assert_bad(",page-faults", NULL);
	assert_bad("page-fault", NULL);
	assert_bad("page-faultsx", NULL);
	assert_bad("cycles", NULL);
	assert_bad("cpu-time", NULL);
	assert_bad("page-faults:", NULL);
	assert_bad("page-faults:0", NULL);
	assert_bad("page-faults:-1", NULL);
	assert_bad("page-faults: 1", NULL);
	assert_bad("page-faults:1x", NULL);
	assert_bad("page-faults:1:2", NULL);
	assert_bad("page-faults:1000000000001", NULL);
	assert_bad("page-faults:99999999999999999999", NULL);
	assert_bad("page-faults", "page-faults:5");
}

/* Completion offers CPU time and all events of the table. */
CASE(test_words)
{
	struct chosen_events events;
	size_t count = 0;

	assert_string_equal(event_words[0], "cpu-time");
	for (; event_words[count + 1]; count++)
		assert_int_equal(parse(event_words[count + 1], NULL, &events), OPTIONS_OK);
	assert_null(software_event_at(count));
	assert_non_null(software_event_at(count - 1));
	assert_in_range(count, 1, JITBPF_EVENTS_MAX - 1);
}

CASE(test_shown)
{
	struct chosen_events events;

	assert_int_equal(parse("page-faults", NULL, &events), OPTIONS_OK);
	assert_true(events_check_shown("record", &events, NULL));
	assert_true(events_check_shown("record", &events, "cpu-time"));
	assert_true(events_check_shown("record", &events, "page-faults"));
	assert_false(events_check_shown("record", &events, "minor-faults"));
}
