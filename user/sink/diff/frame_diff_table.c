/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "base/path.h"
#include "profile/ledger.h"
#include "sink/diff/frame_diff.h"
#include "sink/run_text.h"
#include "sink/write/columns.h"
#include "sink/write/escapes.h"
#include "sink/write/out.h"
#include "sink/write/text.h"

#define NAME_COLUMNS   120
#define MODULE_COLUMNS 40

/* A function: all nodes with one label. */
struct function {
	const struct frame_diff_label *label;
	uint64_t self[DIFF_SIDES];
	uint64_t total[DIFF_SIDES]; /* recursion counts once per stack */
	__int128 self_change,
		total_change; /* difference of shares, times the samples of both sides */
};

struct table {
	uint64_t samples[DIFF_SIDES];
	VEC(struct function) functions;
	struct text text;
	bool colours;
};

static void table_deinit(struct table *table)
{
	vec_deinit(&table->functions);
	text_deinit(&table->text);
}

/*
 * Add up the samples by label. Nodes are in depth-first order, so the path to each node is known,
 * and with it the labels that are already on the path.
 */
static int add_up(struct table *table, const struct frame_diff *diff)
{
	uint32_t node_count, label_count;
	const struct frame_diff_node *nodes = frame_diff_nodes(diff, &node_count);
	const struct frame_diff_label *labels = frame_diff_labels(diff, &label_count);
	struct function *functions;
	AUTO_FREE uint32_t *path = calloc(node_count, sizeof(*path));
	AUTO_FREE uint32_t *open =
		calloc(label_count, sizeof(*open)); /* occurrences on the path, by label */
	uint32_t depth = 0;

	if (!path || !open || vec_reserve(&table->functions, label_count))
		return -ENOMEM;
	functions = table->functions.data;
	table->functions.size = label_count;
	for (uint32_t i = 0; i < label_count; i++)
		functions[i] = (struct function){.label = &labels[i]};
	for (uint32_t i = 0; i < node_count; i++) {
		struct function *function = &functions[nodes[i].label];

		while (depth && path[depth - 1] != nodes[i].parent)
			open[nodes[path[--depth]].label]--;
		path[depth++] = i;
		for (int side = 0; side < DIFF_SIDES; side++) {
			function->self[side] += nodes[i].self[side];
			if (!open[nodes[i].label])
				function->total[side] += nodes[i].total[side];
		}
		open[nodes[i].label]++;
	}
	for (int side = 0; side < DIFF_SIDES; side++) {
		table->samples[side] = nodes[0].total[side];
		vec_for_each (hidden, frame_diff_hidden(diff, side))
			functions[hidden->label].total[side] += hidden->samples;
	}
	return 0;
}

/* Returns (after / samples - before / samples) * samples of both sides, an integer. */
static __int128 change_of(const struct table *table, const uint64_t counts[DIFF_SIDES])
{
	uint64_t before = table->samples[DIFF_BEFORE], after = table->samples[DIFF_AFTER];

	return (__int128)counts[DIFF_AFTER] * (before ?: 1) -
	       (__int128)counts[DIFF_BEFORE] * (after ?: 1);
}

static int compare_sizes(__int128 a, __int128 b)
{
	a = a < 0 ? -a : a;
	b = b < 0 ? -b : b;
	return (a < b) - (a > b);
}

/* The largest changes come first. */
static int compare_functions(const void *a_, const void *b_)
{
	const struct function *a = a_, *b = b_;
	int order = compare_sizes(a->self_change, b->self_change);

	order = order ?: compare_sizes(a->total_change, b->total_change);
	order = order ?: compare_sizes(a->self[DIFF_AFTER], b->self[DIFF_AFTER]);
	order = order ?: strcmp(a->label->name, b->label->name);
	order = order ?: strcmp(a->label->module, b->label->module);
	return order ?: (int)(a->label - b->label);
}

/* A process is shown only for its own samples, which have no stack. */
static bool is_shown(const struct function *function)
{
	if (!*function->label->module)
		return function->self[DIFF_BEFORE] || function->self[DIFF_AFTER];
	return function->total[DIFF_BEFORE] || function->total[DIFF_AFTER];
}

static void rank(struct table *table)
{
	size_t shown = 0;

	vec_for_each (function, &table->functions) {
		if (!is_shown(function))
			continue;
		function->self_change = change_of(table, function->self);
		function->total_change = change_of(table, function->total);
		table->functions.data[shown++] = *function;
	}
	table->functions.size = shown;
	qsort(table->functions.data, shown, sizeof(*table->functions.data), compare_functions);
}

static double share_of(const struct table *table, const uint64_t *counts, int side)
{
	return table->samples[side] ? (double)counts[side] / (double)table->samples[side] : 0;
}

/* Returns true if the difference is within the random error of sampling (2 sigma). */
static bool may_be_chance(const struct table *table, const uint64_t *counts)
{
	double difference = 0, variance = 0;

	for (int side = 0; side < DIFF_SIDES; side++) {
		double share = share_of(table, counts, side);

		difference = share - difference;
		if (table->samples[side])
			variance += share * (1 - share) / (double)table->samples[side];
	}
	return difference * difference <= 4 * variance;
}

/* As in the page: red is more, blue is less. Differences that may be chance have no colour. */
static void put_shares(struct table *table, const uint64_t *counts)
{
	double before = 100 * share_of(table, counts, DIFF_BEFORE);
	double after = 100 * share_of(table, counts, DIFF_AFTER);

	bool chance = may_be_chance(table, counts), coloured = table->colours && !chance;

	text_printf(&table->text, "%7.2f%% %7.2f%% ", before, after);
	if (coloured)
		text_put_string(&table->text, after > before ? ESCAPE_RED : ESCAPE_BLUE);
	text_printf(&table->text, "%+8.2f", after - before);
	text_put_string(&table->text, coloured ? ESCAPE_PLAIN : "");
	text_put_string(&table->text, chance ? "~" : " ");
}

static void put_function(struct table *table, const struct function *function)
{
	const struct frame_diff_label *label = function->label;
	struct text *text = &table->text;

	put_shares(table, function->self);
	text_put_string(text, "  ");
	put_shares(table, function->total);
	text_put_string(text, "  ");
	columns_put_name(text, label->name, NAME_COLUMNS);
	text_put_string(text, label->inlined ? " (inlined, " : " (");
	columns_put_name(text, *label->module ? path_file(label->module) : "no stack",
			 MODULE_COLUMNS);
	text_put_string(text, ")\n");
}

static void put_run(struct table *table, const char *which, uint64_t samples,
		    const struct view *view)
{
	const struct run_info *info = view->info;
	uint64_t lost = view->ledger->samples.fate[FATE_LOST];
	struct text *text = &table->text;

	text_printf(text, "%-8s%llu samples in %.1f s", which, (unsigned long long)samples,
		    (double)info->duration_ns / 1e9);
	run_text_put_event(text, info);
	if (lost)
		text_printf(text, ", %llu more lost", (unsigned long long)lost);
	text_put_string(text, ": ");
	text_put_name_cut(text, *info->command ? info->command : "the whole system", NAME_COLUMNS);
	text_put_string(text, "\n");
}

static void put_runs(struct table *table, const struct view *before, const struct view *after)
{
	struct text *text = &table->text;

	put_run(table, "before", table->samples[DIFF_BEFORE], before);
	put_run(table, "after", table->samples[DIFF_AFTER], after);
	text_put_string(text, "Shares are of all samples of a recording, differences in percentage "
			      "points; ~: within the random error.\n");
	if (before->info->freq_hz != after->info->freq_hz ||
	    before->info->period != after->info->period ||
	    strcmp(before->info->event, after->info->event) != 0)
		text_put_string(
			text,
			"The recordings were sampled differently: compare shares, not counts.\n");
}

int frame_diff_write_table(FILE *out, const struct frame_diff *diff, const struct view *before,
			   const struct view *after, uint32_t rows)
{
	CLEANUP(table_deinit) struct table table = {.colours = after->options.colours};
	struct text *text = &table.text;
	size_t shown;
	int err = add_up(&table, diff);

	if (err)
		return err;
	rank(&table);
	put_runs(&table, before, after);
	text_printf(text, "\n%s%8s%19s%10s\n", table.colours ? ESCAPE_BOLD : "", "SELF", "",
		    "TOTAL");
	for (int i = 0; i < 2; i++)
		text_printf(text, "%8s %8s %8s   ", "BEFORE", "AFTER", "DIFF");
	text_put_string(text, table.colours ? "FUNCTION" ESCAPE_PLAIN "\n" : "FUNCTION\n");
	shown = rows && rows < table.functions.size ? rows : table.functions.size;
	for (size_t i = 0; i < shown; i++)
		put_function(&table, &table.functions.data[i]);
	if (shown < table.functions.size)
		text_printf(text, "and %zu more\n", table.functions.size - shown);
	err = text_write(text, out);
	return err ?: out_flush(out);
}
