/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/ledger_terms.h"

#include <stdint.h>

#include <string.h>

#include "base/scope.h"
#include "tests/unit/cases.h"

#define TERMS_MIN (FATE_COUNT + LEDGER_CUT_COUNT + LEDGER_JIT_COUNT + JITBPF_COUNTER_MAX)

static void check_sentence(const char *key, const char *s, bool ends)
{
	size_t bytes = strlen(s);

	if (bytes < 10 || (s[bytes - 1] == '.') != ends)
		fail_msg("%s: %s", key, s);
}

CASE(every_term_is_explained)
{
	const struct ledger_word *term;
	const char *group;
	size_t count = 0;

	for (; (term = ledger_term_at(count, &group)); count++) {
		assert_non_null(group);
		if (!term->key || !term->words || !term->means)
			fail_msg("term %zu of %s lacks a text", count, group);
		check_sentence(term->key, term->means, true);
		if (term->why)
			check_sentence(term->key, term->why, true);
		if (term->next)
			check_sentence(term->key, term->next, false);
		/* What can be done about it is trouble, which has a reason. */
		assert_true(!term->next || term->why);
	}
	assert_int_equal(count, TERMS_MIN + LEDGER_MEMORY_COUNT + LEDGER_SINGLE_COUNT +
					LEDGER_COLUMN_COUNT + LEDGER_RUNTIME_COUNT);
	assert_null(ledger_term_at(count + 1, NULL));
}

CASE(advice_fits_the_run)
{
	static const struct {
		const char *command, *next;
	} rows[] = {
		{"", "use a larger --max-memory, or record fewer processes (-p, -u or -G)"},
		{"process 1, 2", "use a larger --max-memory, or choose fewer processes"},
		{"process of user www", "use a larger --max-memory, or choose fewer processes"},
		{"php a.php", "use a larger --max-memory, or record a part of the command (-d)"},
	};
	const struct ledger_word *term;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(text_deinit) struct text text = {0};

		ledger_put_next(&text, ledger_memories[LEDGER_MEMORY_CODE].next, rows[i].command);
		text_put(&text, "", 1);
		assert_string_equal(text.bytes.data, rows[i].next);
	}
	/* No advice names the options of a choice that was made, and none is lost. */
	for (size_t i = 0; (term = ledger_term_at(i, NULL)); i++) {
		CLEANUP(text_deinit) struct text text = {0};

		if (!term->next)
			continue;
		ledger_put_next(&text, term->next, "process 1");
		text_put(&text, "", 1);
		assert_true(*text.bytes.data);
		assert_null(strstr(text.bytes.data, " -p "));
		assert_null(strstr(text.bytes.data, "(-p"));
		assert_null(strstr(text.bytes.data, "-G"));
	}
}

CASE(trouble_has_reasons)
{
	for (int i = 0; i < LEDGER_JIT_COUNT; i++)
		assert_int_equal(ledger_jit[i].word.why != NULL, i >= LEDGER_JIT_TROUBLE);
	for (int i = 0; i < LEDGER_CUT_COUNT; i++)
		assert_int_equal(ledger_cuts[i].why != NULL, i != JITBPF_END_ROOT);
}

/* Returns how many terms a text means; *ret_key is that of the last one. */
static size_t meant(const char *text, const char **ret_key)
{
	const struct ledger_word *term;
	const char *group;
	size_t found = 0;

	for (size_t i = 0; (term = ledger_term_at(i, &group)); i++) {
		if (!ledger_term_is(term, group, text))
			continue;
		*ret_key = term->key;
		found++;
	}
	return found;
}

CASE(a_term_is_found_as_outputs_show_it)
{
	static const struct {
		const char *text, *key;
		size_t count;
	} cases[] = {
		{"no_rule", "no_rule", 1},
		{"[others of user 0]", "others_of_user", 1},
		{"[others of user 4294967295]", "others_of_user", 1},
		{"[others of user N]", "others_of_user", 1},
		{"[others of user ]", "", 0},
		{"[others of user 1", "", 0},
		{"cut.no_rule", "no_rule", 1},
		{"samples.cut.no_rule", "no_rule", 1},
		{"no unwind rule", "no_rule", 1},
		{"No Unwind Rule", "no_rule", 1},
		{"unreadable", "unreadable", 2}, /* of stacks, and of journals */
		{"jit.unreadable", "unreadable", 1},
		{"JIT: journals that could not be read", "unreadable", 1},
		{"  of the JIT records lost, those over their owner's share of the code ring",
		 "jit_over_share", 1},
		{"JIT methods", "methods", 1},
		{"JIT records lost: code ring full", "jit_ring_full", 1},
		{"[unknown] code", "code_unknown", 1},
		{"rule", "", 0},
		{"SAMPLES", "samples", 1},
		{"SHARE", "share", 1},
		{"JIT CODE", "jit_code", 1},
		{"", "", 0},
		{"samples.cut.", "", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *key = "";

		assert_int_equal(meant(cases[i].text, &key), cases[i].count);
		assert_string_equal(key, cases[i].key);
	}
}

/* A path of JSON is one term. */
CASE(keys_are_unique)
{
	const struct ledger_word *term;
	const char *group, *key;

	for (size_t i = 0; (term = ledger_term_at(i, &group)); i++) {
		char path[96];

		snprintf(path, sizeof(path), "%s%s", group, term->key);
		if (*group)
			assert_int_equal(meant(path, &key), 1);
	}
}
