/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/format/summary_trouble.h"

#include <stdio.h>

#include "base/scope.h"
#include "base/text.h"
#include "sink/engine_advice.h"
#include "sink/ledger_rows.h"
#include "sink/naming.h"
#include "sink/format/summary_rows.h"
#include "sink/write/columns.h"

#define NAME_COLUMNS  4 /* a name is not shortened to fewer */
#define UNNAMED_FILES 5 /* files that are listed, at most */

const char *summary_command(const struct view *view)
{
	const char *command = view->info->command;

	return begins_with(command, RUN_OF_PROCESSES) ? "" : command;
}

/*
 * Returns the samples in unknown code of processes without any published code, and those that are
 * cut in such code of a runtime. Functions of runtimes are not published, but read. Sets *ret to
 * the process with most samples, NULL if there are none.
 */
static uint64_t samples_unpublished(const struct ledger *ledger, const struct ledger_process **ret)
{
	uint64_t samples = 0, most = 0;

	*ret = NULL;
	vec_for_each (process, &ledger->processes) {
		uint64_t unknown = process->samples.fate[FATE_CODE_UNKNOWN];
		uint64_t others = process->samples.runtime_unknown;

		unknown = (unknown > others ? unknown - others : 0) +
			  process->samples.cut_unpublished;
		if (!unknown || process->jit.methods || process->jit.other_version)
			continue;
		samples += unknown;
		if (unknown > most) {
			most = unknown;
			*ret = process;
		}
	}
	return samples;
}

/* If many samples are in code without a name, put the reason and the advice. */
static void put_unpublished(struct text *text, const struct view *view)
{
	const struct ledger_process *most;
	uint64_t samples = samples_unpublished(view->ledger, &most);
	CLEANUP(text_deinit) struct text words = {0};

	if (!most || samples < ledger_taken(view->ledger) / SUMMARY_SHARE ||
	    view->ledger->counters[JITBPF_COUNT_BROKER_LOST])
		return;
	text_put_string(&words, "samples in [unknown] code that no engine published: ");
	engine_advice_put(&words, most, summary_command(view));
	text_put(&words, "", 1);
	text->failed |= words.failed;
	if (!words.failed)
		summary_rows_put(text, view, words.bytes.data, NULL, samples);
}

/*
 * Put the files with more than a tenth of the samples of the first one, at most UNNAMED_FILES, and
 * how many of `all` files they leave out. Sets *ret_count to their number.
 */
static void put_unnamed_files(struct text *text, const struct view *view,
			      const unnamed_file_list *files, size_t all, size_t *ret_count)
{
	uint32_t column = summary_rows_column(view), columns = view->options.columns;
	size_t count = 0;

	while (count < files->size && count < UNNAMED_FILES &&
	       files->data[count].samples > files->data[0].samples / 10)
		count++;
	text_printf(text, "%*sin ", (int)column, "");
	for (size_t i = 0; i < count; i++) {
		if (i && summary_rows_are_narrow(view))
			text_printf(text, ",\n%*s", (int)column, "");
		else
			text_put_string(text, i ? ", " : "");
		if (summary_rows_are_narrow(view) &&
		    columns > column + NAME_COLUMNS + 4) /* "in ", "," */
			columns_put_name(text, files->data[i].path, columns - column - 4);
		else
			text_put_name(text, files->data[i].path, 0, 0);
	}
	if (count < all && summary_rows_are_narrow(view))
		text_printf(text, "\n%*s", (int)column - 1, "");
	if (count < all)
		text_printf(text, " and %zu other%s", all - count, all - count == 1 ? "" : "s");
	text_put_string(text, "\n");
	*ret_count = count;
}

/* Put how many samples lack names, in which files, and the packages that have them. */
static void put_unnamed(struct text *text, const struct view *view)
{
	unnamed_file_list files = {0};
	struct unnamed_total total = {0};
	struct text next = {0};
	size_t shown;

	if (naming_files(view, &files, &total))
		text->failed = true;
	if (total.samples && total.samples >= ledger_taken(view->ledger) / SUMMARY_SHARE) {
		summary_rows_put(text, view, ledger_singles[LEDGER_UNNAMED].words, NULL,
				 total.samples);
		put_unnamed_files(text, view, &files, total.files, &shown);
		if (view->ledger->counters[JITBPF_COUNT_BROKER_LOST])
			text_put_string(&next, LEDGER_RECORD_AGAIN);
		else
			naming_put_advice(&next, view, &files, 0, shown);
		text_put(&next, "", 1);
		text->failed |= next.failed;
		if (!next.failed)
			summary_rows_put_next(text, view, next.bytes.data);
	}
	vec_deinit(&files);
	text_deinit(&next);
}

/*
 * The kernel's count of samples is no trouble by itself: summary_trouble_put() compares it with the
 * ledger.
 */
static bool is_trouble(enum jitbpf_counter counter)
{
	return ledger_counters[counter].why && counter != JITBPF_COUNT_SAMPLES_TAKEN;
}

static void put_term(struct text *text, const struct view *view, const struct ledger_word *term,
		     uint64_t value)
{
	if (value)
		summary_rows_put(text, view, term->words, term->next, value);
}

static void put_owner(struct text *text, const struct view *view, enum ledger_memory memory,
		      const struct ledger_owner *owner)
{
	char words[200], user[32] = "an unknown user";

	if (owner->uid != JITBPF_UNKNOWN_USER)
		snprintf(user, sizeof(user), "user %u", (uint32_t)owner->uid);
	snprintf(words, sizeof(words), "%s not kept, %s (cgroup %llu) used its share of the memory",
		 ledger_memories[memory].words, user, (unsigned long long)owner->cgroup);
	summary_rows_put(text, view, words, ledger_memories[memory].next, owner->refused);
}

bool summary_trouble_put(struct text *text, const struct view *view)
{
	const struct ledger *ledger = view->ledger;
	uint64_t taken = ledger_taken(ledger);
	uint64_t counted = ledger->counters[JITBPF_COUNT_SAMPLES_TAKEN];
	size_t before = text->bytes.size, heading;

	summary_rows_put_heading(text, view, "to look into");
	heading = text->bytes.size;
	put_unpublished(text, view);
	put_unnamed(text, view);
	for (int i = LEDGER_JIT_TROUBLE; i < LEDGER_JIT_COUNT; i++) {
		uint64_t value = ledger_jit_value(&ledger->jit, i);
		char words[80];

		snprintf(words, sizeof(words), "JIT: %s", ledger_jit[i].word.words);
		if (value)
			summary_rows_put(text, view, words, ledger_jit[i].word.next, value);
	}
	for (int memory = 0; memory < LEDGER_MEMORY_COUNT; memory++) {
		const struct ledger_owner *owners = ledger->owners[memory];

		for (int i = 0; i < LEDGER_OWNERS_MAX && owners[i].refused; i++)
			put_owner(text, view, memory, &owners[i]);
	}
	put_term(text, view, &ledger_singles[LEDGER_TOTAL_UNKNOWN],
		 view->hidden ? view->hidden->unknown : 0);
	put_term(text, view, &ledger_singles[LEDGER_MALFORMED_RECORDS], ledger->malformed_records);
	for (int i = 0; i < JITBPF_COUNTER_MAX; i++) {
		if (is_trouble(i))
			put_term(text, view, &ledger_counters[i], ledger->counters[i]);
	}
	if (!ledger->filtered && counted && counted != taken)
		put_term(text, view, &ledger_counters[JITBPF_COUNT_SAMPLES_TAKEN], counted);
	if (text->bytes.size > heading)
		return true;
	text->bytes.size = before;
	return false;
}
