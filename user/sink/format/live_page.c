/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/format/live_page.h"

#include <string.h>

#include "base/scope.h"
#include "sink/format/page_data.h"
#include "sink/format/page_embed.h"
#include "sink/format/page_words.h"
#include "sink/frame_text.h"
#include "sink/ledger_rows.h"
#include "sink/live/delta_format.h"
#include "sink/write/json.h"

/* A name is the path to a member of the JSON of the summary, such as "samples.cut.depth". */
static void write_name(struct json *json, const char *group, const char *key)
{
	char name[128];

	snprintf(name, sizeof(name), "%s%s", group, key);
	json_string(json, name);
}

static void write_names(struct json *json, const char *group, const struct ledger_word *words,
			size_t count)
{
	for (size_t i = 0; i < count; i++)
		write_name(json, group, words[i].key);
}

static void write_jit_names(struct json *json)
{
	for (size_t offset = 0; offset < sizeof(struct jit_counts); offset += sizeof(uint64_t)) {
		const char *key = "";

		for (int i = 0; i < LEDGER_JIT_COUNT; i++) {
			if (ledger_jit[i].offset == offset)
				key = ledger_jit[i].word.key;
		}
		write_name(json, *key ? "jit." : "", key);
	}
}

static void write_sample_names(struct json *json)
{
	write_names(json, "samples.", ledger_fates, FATE_COUNT);
	write_names(json, "samples.cut.", ledger_cuts, LEDGER_CUT_COUNT);
	json_string(json, "samples.frame_pointers");
	json_string(json, "samples.runtime_functions");
	json_string(json, "samples.runtime_cut");
	json_string(json, "samples.runtime_unknown");
	json_string(json, "samples.cut_unpublished");
}

static void write_runtime_names(struct json *json)
{
	for (int i = 0; i < LEDGER_RUNTIMES_MAX; i++) {
		char number[2] = {(char)('0' + i), 0};

		write_name(json, "runtimes.", number);
	}
}

/* The names of delta_row and delta_totals, by position; "": not shown. */
static void write_fields(struct json *json)
{
	json_key(json, "row");
	json_begin(json, '[');
	json_string(json, "");
	json_string(json, "processes");
	write_sample_names(json);
	write_runtime_names(json);
	write_jit_names(json);
	json_end(json, ']');
	json_key(json, "totals");
	json_begin(json, '[');
	write_sample_names(json);
	write_jit_names(json);
	json_string(json, "malformed_records");
	json_string(json, "throttled.ns");
	json_string(json, "throttled.intervals");
	json_string(json, "");
	write_names(json, "counters.", ledger_counters, JITBPF_COUNTER_MAX);
	for (size_t i = 0; i < LEDGER_OWNERS_WORDS; i++)
		json_string(json, "");
	json_end(json, ']');
}

/* By kind of location. */
static void write_places(struct json *json)
{
	json_key(json, "places");
	json_begin(json, '[');
	for (uint32_t i = 0; i < LOCATION_KIND_COUNT; i++) {
		struct frame_text text;

		frame_text_of_kind(i, &text);
		json_begin(json, '{');
		json_member_string(json, "name", text.name);
		json_member_string(json, "module", text.module);
		json_member_number(json, "kind", page_data_kind(text.kind, false));
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void write_kinds(struct json *json)
{
	json_key(json, "kinds");
	json_begin(json, '[');
	for (int i = 0; i < FRAME_KIND_COUNT; i++)
		json_number(json, page_data_kind((enum frame_kind)i, false));
	json_end(json, ']');
}

static int write_live(void *view_, struct json *json)
{
	const struct view_options *view = view_;

	json_begin(json, '{');
	json_key(json, "live");
	json_begin(json, '{');
	json_member_literal(json, "inlined", view->no_inline ? "false" : "true");
	json_member_string(json, "merge", view_merge_names[view->merge]);
	json_member_literal(json, "kernel", view->kernel == VIEW_KERNEL_HIDDEN ? "false" : "true");
	json_member_literal(json, "interpreter",
			    view->interpreter == VIEW_INTERPRETER_HIDDEN ? "false" : "true");
	json_member_string(json, "by", view_by_names[view->by]);
	json_member_string(json, "event", view->event ?: "");
	write_fields(json);
	write_places(json);
	write_kinds(json);
	json_end(json, '}');
	page_words_write(json);
	json_end(json, '}');
	return 0;
}

int live_page_write(FILE *out, const struct view_options *view)
{
	return page_embed(out, PAGE_CONNECTS_TO_SERVER, write_live, (void *)view);
}
