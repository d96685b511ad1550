/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The summary: the ledger in a few lines of text. */
#include "sink/sink.h"

#include <stdio.h>

#include "base/scope.h"
#include "base/text.h"
#include "sink/engine_advice.h"
#include "sink/ledger_rows.h"
#include "sink/format/summary_rows.h"
#include "sink/format/summary_trouble.h"
#include "sink/runtime_rows.h"
#include "sink/sample_groups.h"
#include "sink/write/escapes.h"
#include "sink/write/out.h"
#include "sink/write/paragraph.h"

#define ROWS_SHOWN    20
#define LABEL_BYTES   28
#define EVENT_COLUMNS 40

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

		if (!ledger->samples.fate[i])
			continue;
		snprintf(label, sizeof(label), "  %s", ledger_fates[i].words);
		summary_rows_put_colour(text, view, colours[i]);
		summary_rows_put_share(text, view, label, ledger->samples.fate[i], taken);
		summary_rows_put_colour(text, view, *colours[i] ? ESCAPE_PLAIN : "");
		if (i == FATE_STACK_CUT)
			summary_rows_put_reasons(text, view, ledger_cuts, ledger->samples.cut,
						 LEDGER_CUT_COUNT);
		if (i == FATE_LOST)
			put_losses(text, view);
	}
	if (naming->samples)
		summary_rows_put_share(text, view, ledger_singles[LEDGER_NAMED].words,
				       naming->named, naming->samples);
	if (ledger->samples.runtime_functions)
		summary_rows_put_share(text, view, ledger_singles[LEDGER_RUNTIME_FUNCTIONS].words,
				       ledger->samples.runtime_functions, taken);
	if (ledger->samples.frame_pointers)
		summary_rows_put_share(text, view, ledger_singles[LEDGER_FRAME_POINTERS].words,
				       ledger->samples.frame_pointers, taken);
	if (ledger->throttles || ledger->throttled_ns) {
		summary_rows_put_time(text, view, ledger_singles[LEDGER_THROTTLED].words,
				      ledger->throttled_ns);
		text_put_string(text, summary_rows_are_narrow(view) ? "\n  in " : "  in ");
		text_put_number(text, ledger->throttles, 0);
		text_put_string(text, ledger->throttles == 1 ? " interval\n" : " intervals\n");
	}
}

/* Returns why the recorded command had no JIT code, although its engine has a JIT; or NULL. */
static const char *without_code(const struct view *view)
{
	const struct ledger *ledger = view->ledger;

	if (!*summary_command(view) || ledger->jit.methods ||
	    ledger->samples.fate[FATE_CODE_UNKNOWN] || ledger->samples.cut_unpublished)
		return NULL;
	vec_for_each (process, &ledger->processes) {
		const char *why = engine_advice_without_code(process);
		uint64_t taken = ledger_process_taken(process);

		if (why && taken && taken >= ledger_taken(ledger) / SUMMARY_SHARE)
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

/* Put whether the functions of each runtime are shown. */
static void put_runtimes(struct text *text, const struct view *view)
{
	runtime_rows rows = {0};

	if (runtime_rows_fill(view->ledger, &rows))
		text->failed = true;
	if (rows.size) {
		text_put_string(text, "\n");
		summary_rows_put_heading(text, view, "samples of runtimes");
	}
	vec_for_each (row, &rows) {
		CLEANUP(text_deinit) struct text words = {0};

		runtime_row_put(&words, row);
		text_put(&words, "", 1);
		text->failed |= words.failed;
		if (!words.failed)
			summary_rows_put(text, view, words.bytes.data, runtime_row_next(row),
					 row->samples);
	}
	vec_deinit(&rows);
}

/* The events of the run, if there are several; the view shows one of them. */
static void put_events(struct text *text, const struct view *view)
{
	if (view->event_count < 2)
		return;
	text_put_string(text, "\n");
	summary_rows_put_heading(text, view, "events");
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
	if (summary_trouble_put(text, view) ||
	    ledger_taken(ledger) != ledger->samples.fate[FATE_RESOLVED])
		put_explain(text, view);
	put_runtimes(text, view);
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
