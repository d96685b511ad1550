/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/top/top_ui_state.h"

#include <stdlib.h>
#include <string.h>

#define NAME_BYTES                                                                                 \
	1024 /* of a name that are searched: they are untrusted, and searching costs time */

void top_pattern_clear(struct top_pattern *pattern)
{
	if (pattern->set)
		regfree(&pattern->regex);
	vec_deinit(&pattern->matches);
	*pattern = (struct top_pattern){0};
}

const char *top_pattern_set(struct top_pattern *pattern, const char *text)
{
	struct top_pattern made = {0};

	if (*text) {
		if (regcomp(&made.regex, text, REG_EXTENDED | REG_ICASE | REG_NOSUB))
			return "this is no regular expression";
		made.set = true;
		snprintf(made.text, sizeof(made.text), "%s", text);
	}
	top_pattern_clear(pattern);
	*pattern = made;
	return NULL;
}

static bool search(const struct top_pattern *pattern, const char *name)
{
	char begin[NAME_BYTES + 1];

	if (strlen(name) > NAME_BYTES) {
		memcpy(begin, name, NAME_BYTES);
		begin[NAME_BYTES] = 0;
		name = begin;
	}
	return !regexec(&pattern->regex, name, 0, NULL, 0);
}

/* The name of the function, or one of the names of its code. */
static bool search_names(const struct top_pattern *pattern, const struct label_table *labels,
			 uint32_t label, const struct label_names *names)
{
	bool matches = search(pattern, label_table_name(labels, label));

	for (uint32_t i = 0; i < names->count && !matches; i++)
		matches = search(pattern, string_pool_get(labels->strings, names->names[i]));
	return matches;
}

bool top_pattern_matches(struct top_pattern *pattern, const struct label_table *labels,
			 uint32_t label)
{
	const struct label_names *names;
	uint8_t result;

	if (!pattern->set)
		return true;
	names = label_table_names(labels, label);
	/* The result for as many names as the label has now. */
	if (label < pattern->matches.size && pattern->matches.data[label] / 2 == names->count)
		return pattern->matches.data[label] % 2;
	result = (uint8_t)(2 * names->count + search_names(pattern, labels, label, names));
	while (pattern->matches.size <= label) {
		if (vec_push(&pattern->matches, 0))
			return result % 2;
	}
	pattern->matches.data[label] = result;
	return result % 2;
}
