/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The summary: the ledger in a few lines of text. */
#include "sink/sink.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "sink/engine_advice.h"
#include "sink/ledger_rows.h"
#include "sink/format/summary_rows.h"
#include "sink/sample_groups.h"
#include "sink/write/columns.h"
#include "sink/write/escapes.h"
#include "sink/write/out.h"
#include "sink/write/paragraph.h"

#define ROWS_SHOWN    20
#define LABEL_BYTES   28
#define EVENT_COLUMNS 40
#define NAME_COLUMNS  4 /* a name is not shortened to fewer */

#define UNNAMED_FILES	  5  /* files that are listed, at most */
#define UNPUBLISHED_SHARE 10 /* reported from 1/10 of all samples on */

/* --- samples ------------------------------------------------------------------------- */

static void put_colour(struct text *text, const struct view *view, const char *colour)
{
	text_put_string(text, view->options.colours ? colour : "");
}

/* Put the reasons of lost samples. */
static void put_losses(struct text *text, const struct view *view)
{
	static const struct ledger_word words[] = {
		{.words = "sample ring full"},
		{.words = "no scratch space"},
		{.words = "out of memory"},
	};
	const struct ledger *ledger = view->ledger;
	const uint64_t counts[ARRAY_SIZE(words)] = {
		ledger->counters[JITBPF_COUNT_SAMPLES_RING_FULL],
		ledger->counters[JITBPF_COUNT_SAMPLES_NO_SCRATCH],
		ledger->counters[JITBPF_COUNT_AGENT_NO_MEMORY],
	};

	summary_rows_put_reasons(text, view, words, counts, ARRAY_SIZE(words));
}

static void put_fates(struct text *text, const struct view *view, const struct naming_count *naming)
{
	static const char *const colours[FATE_COUNT] = {
		[FATE_RESOLVED] = "",
		[FATE_CODE_UNKNOWN] = ESCAPE_YELLOW,
		[FATE_STACK_CUT] = ESCAPE_YELLOW,
		[FATE_LOST] = ESCAPE_RED,
	};
	const struct ledger *ledger = view->ledger;
	uint64_t taken = ledger_taken(ledger);

	summary_rows_put_count(text, view, ledger_singles[LEDGER_TAKEN].words, taken);
	text_put_string(text, "\n");
	for (int i = 0; i < FATE_COUNT; i++) {
		char label[LABEL_BYTES];

		if (!ledger->fate[i])
			continue;
		snprintf(label, sizeof(label), "  %s", ledger_fates[i].words);
		put_colour(text, view, colours[i]);
		summary_rows_put_share(text, view, label, ledger->fate[i], taken);
		put_colour(text, view, *colours[i] ? ESCAPE_PLAIN : "");
		if (i == FATE_STACK_CUT)
			summary_rows_put_reasons(text, view, ledger_cuts, ledger->cut,
						 LEDGER_CUT_COUNT);
		if (i == FATE_LOST)
			put_losses(text, view);
	}
	if (naming->samples)
		summary_rows_put_share(text, view, ledger_singles[LEDGER_NAMED].words,
				       naming->named, naming->samples);
	if (ledger->frame_pointers)
		summary_rows_put_share(text, view, ledger_singles[LEDGER_FRAME_POINTERS].words,
				       ledger->frame_pointers, taken);
	if (ledger->throttles || ledger->throttled_ns) {
		summary_rows_put_time(text, view, ledger_singles[LEDGER_THROTTLED].words,
				      ledger->throttled_ns);
		text_put_string(text, summary_rows_are_narrow(view) ? "\n  in " : "  in ");
		text_put_number(text, ledger->throttles, 0);
		text_put_string(text, ledger->throttles == 1 ? " interval\n" : " intervals\n");
	}
}

/* --- JIT code ------------------------------------------------------------------------ */

/* Returns the command that was run with the environment of engines; "" if there was none. */
static const char *command_of(const struct view *view)
{
	const char *command = view->info->command;

	return begins_with(command, RUN_OF_PROCESSES) ? "" : command;
}

/* Returns why the recorded command had no JIT code, although its engine has a JIT; or NULL. */
static const char *without_code(const struct view *view)
{
	const struct ledger *ledger = view->ledger;

	if (!*command_of(view) || ledger->jit.methods || ledger->fate[FATE_CODE_UNKNOWN])
		return NULL;
	vec_for_each (process, &ledger->processes) {
		const char *why = engine_advice_without_code(process);
		uint64_t taken = ledger_process_taken(process);

		if (why && taken && taken >= ledger_taken(ledger) / UNPUBLISHED_SHARE)
			return why;
	}
	return NULL;
}

/* Put text such as ", 3 inlined", unless value is 0. */
static void put_also(struct text *text, uint64_t value, const char *words)
{
	if (!value)
		return;
	text_put_string(text, text->bytes.size ? ", " : "");
	text_put_number(text, value, 0);
	text_printf(text, " %s", words);
}

static void put_jit(struct text *text, const struct view *view)
{
	CLEANUP(text_deinit) struct text note = {0};
	const struct jit_counts *jit = &view->ledger->jit;
	const char *why = without_code(view);

	if (!jit->methods && !jit->unloads && !jit->inlines && !jit->late && !jit->recovered &&
	    !why)
		return;
	if (jit->code_bytes) {
		text_put_bytes(&note, jit->code_bytes, 0);
		text_put_string(&note, " of code");
	}
	put_also(&note, jit->unloads, jit->unloads == 1 ? "unload" : "unloads");
	put_also(&note, jit->inlines, "inlined");
	put_also(&note, jit->late, "loaded before the recording");
	put_also(&note, jit->recovered, "recovered");
	if (why)
		text_printf(&note, "%s(%s)", note.bytes.size ? ", " : "", why);
	text_put(&note, "", 1);
	summary_rows_put_count(text, view, "JIT methods", jit->methods);
	text->failed |= note.failed;
	summary_rows_put_note(text, view, note.failed ? "" : note.bytes.data);
}

/*
 * Returns the samples in unknown code of processes without any published code. Sets *ret to the
 * process with most of them, NULL if there are none.
 */
static uint64_t samples_unpublished(const struct ledger *ledger, const struct ledger_process **ret)
{
	uint64_t samples = 0, most = 0;

	*ret = NULL;
	vec_for_each (process, &ledger->processes) {
		if (process->jit.methods || process->jit.other_version)
			continue;
		samples += process->fate[FATE_CODE_UNKNOWN];
		if (process->fate[FATE_CODE_UNKNOWN] > most) {
			most = process->fate[FATE_CODE_UNKNOWN];
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

	if (!most || samples < ledger_taken(view->ledger) / UNPUBLISHED_SHARE ||
	    view->ledger->counters[JITBPF_COUNT_BROKER_LOST])
		return;
	text_put_string(&words, "samples in [unknown] code that no engine published: ");
	engine_advice_put(&words, most, command_of(view));
	text_put(&words, "", 1);
	text->failed |= words.failed;
	if (!words.failed)
		summary_rows_put(text, view, words.bytes.data, NULL, samples);
}

/* --- names --------------------------------------------------------------------------- */

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
	if (total.samples && total.samples >= ledger_taken(view->ledger) / UNPUBLISHED_SHARE) {
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

/* --- trouble ------------------------------------------------------------------------- */

/*
 * The kernel's count of samples is no trouble by itself: put_trouble() compares it with the ledger.
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

/* Put the counts that should be 0 and are not. Returns true if there are any. */
static bool put_trouble(struct text *text, const struct view *view)
{
	const struct ledger *ledger = view->ledger;
	uint64_t taken = ledger_taken(ledger);
	uint64_t counted = ledger->counters[JITBPF_COUNT_SAMPLES_TAKEN];
	size_t before = text->bytes.size, heading;

	put_colour(text, view, ESCAPE_BOLD);
	text_put_string(text, "to look into\n");
	put_colour(text, view, ESCAPE_PLAIN);
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

/* The events of the run, if there are several; the view shows one of them. */
static void put_events(struct text *text, const struct view *view)
{
	if (view->event_count < 2)
		return;
	text_put_string(text, "\n");
	put_colour(text, view, ESCAPE_BOLD);
	text_put_string(text, "events\n");
	put_colour(text, view, ESCAPE_PLAIN);
	for (uint32_t i = 0; i < view->event_count; i++) {
		const struct event_total *event = &view->events[i];
		CLEANUP(text_deinit) struct text words = {0};

		text_put_string(&words, event->samples == 1 ? "sample of " : "samples of ");
		text_put_name_cut(&words, event->name, EVENT_COLUMNS);
		if (i) {
			text_put_string(&words, ": ");
			text_put_number(&words, event->weight, 0);
			text_put_string(&words, " ");
			text_put_name_cut(&words, event->unit, EVENT_COLUMNS);
		}
		if (event->lost) {
			text_put_string(&words, ", ");
			text_put_number(&words, event->lost, 0);
			text_put_string(&words, " samples lost");
		}
		if (event->counted && event->counted != event->samples && !view->ledger->filtered) {
			text_put_string(&words, ", but the kernel has taken ");
			text_put_number(&words, event->counted, 0);
		}
		text_put_string(&words, i == view->event ? " (shown here)" : "");
		text_put(&words, "", 1);
		text->failed |= words.failed;
		if (!words.failed)
			summary_rows_put(text, view, words.bytes.data, NULL, event->samples);
	}
}

/* --- all of it ----------------------------------------------------------------------- */

static void put_explain(struct text *text, const struct view *view)
{
	paragraph_put(text, "'jitbpf explain TERM' says what each of these means", 0, 0,
		      view->options.columns);
	text_put_string(text, "\n");
}

static int put_all(struct text *text, const struct view *view, struct naming *naming,
		   struct sample_groups *groups)
{
	const struct ledger *ledger = view->ledger;
	uint32_t columns = view->options.columns;
	int err = naming_count(view, naming);

	err = err ?: sample_groups_fill(groups, view, naming);
	if (err)
		return err;
	summary_rows_put_run(text, view);
	text_put_string(text, "\n");
	put_fates(text, view, &naming->all);
	put_jit(text, view);
	if (put_trouble(text, view) || ledger_taken(ledger) != ledger->fate[FATE_RESOLVED])
		put_explain(text, view);
	put_events(text, view);
	if (!groups->groups.size)
		return 0;
	text_put_string(text, "\n");
	sample_groups_put(groups, view, ROWS_SHOWN, text, columns);
	return 0;
}

static int summary_finish(struct sink *sink, const struct view *view)
{
	CLEANUP(sample_groups_deinit) struct sample_groups groups = {0};
	CLEANUP(naming_deinit) struct naming naming = {0};
	CLEANUP(text_deinit) struct text text = {0};
	int err = put_all(&text, view, &naming, &groups);

	err = err ?: text_write(&text, out_stream(sink));
	return err ?: out_flush(out_stream(sink));
}

const struct sink_ops sink_summary = {
	.name = "summary",
	.extension = ".summary",
	.counts_only = true,
	.packages = true,
	.create = out_create,
	.finish = summary_finish,
	.destroy = out_destroy,
};
