/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/format/page_words.h"

#include <stdio.h>

#include "sink/engine_advice.h"
#include "sink/file_packages.h"
#include "sink/ledger_rows.h"

/* Write the meaning of a term, its reason and the advice, as one text. */
static void write_about(struct json *json, const struct ledger_word *term)
{
	char about[600];

	snprintf(about, sizeof(about), "%s%s%s%s%s", term->means, term->why ? " Why: " : "",
		 term->why ?: "", term->next ? " Next: " : "", term->next ?: "");
	json_member_string(json, term->key, about);
}

static void write_word(struct json *json, const struct ledger_word *term)
{
	json_member_string(json, term->key, term->words);
}

static void write_word_table(struct json *json, const char *key, const struct ledger_word *words,
			     int count,
			     void (*write)(struct json *json, const struct ledger_word *term))
{
	json_key(json, key);
	json_begin(json, '{');
	for (int i = 0; i < count; i++)
		write(json, &words[i]);
	json_end(json, '}');
}

static void write_word_tables(struct json *json,
			      void (*write)(struct json *json, const struct ledger_word *term))
{
	write_word_table(json, "fates", ledger_fates, FATE_COUNT, write);
	write_word_table(json, "cuts", ledger_cuts, LEDGER_CUT_COUNT, write);
	write_word_table(json, "counters", ledger_counters, JITBPF_COUNTER_MAX, write);
	write_word_table(json, "singles", ledger_singles, LEDGER_SINGLE_COUNT, write);
	write_word_table(json, "runtimes", ledger_runtimes, LEDGER_RUNTIME_COUNT, write);
	json_key(json, "jit");
	json_begin(json, '{');
	for (int i = 0; i < LEDGER_JIT_COUNT; i++)
		write(json, &ledger_jit[i].word);
	json_end(json, '}');
}

void page_words_write(struct json *json)
{
	json_key(json, "words");
	json_begin(json, '{');
	write_word_tables(json, write_word);
	json_key(json, "about");
	json_begin(json, '{');
	write_word_tables(json, write_about);
	json_end(json, '}');
	json_member_string(json, "symbols", FILE_PACKAGES_ADVICE);
	engine_advice_write(json);
	json_end(json, '}');
}
