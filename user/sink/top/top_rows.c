/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/top/top_rows.h"

#include <stdio.h>
#include <string.h>

#include "sink/run_text.h"
#include "sink/write/columns.h"
#include "sink/write/escapes.h"

#define NAMES_COLUMNS_MIN 16 /* of the names of a function's code */
#define NAME_COLUMNS_MIN  8
#define FILE_COLUMNS_MIN  8 /* of the file that tells functions of one name apart, with " of " */
#define MODULE_COLUMNS	  24
#define COMM_COLUMNS	  16
#define NARROW_COLUMNS	  80 /* below, the module has no column */
#define SHARES_COLUMNS	  60 /* below, only shares have columns */
#define PROCESS_COLUMNS	  51 /* of a process's row without its name */
#define NAMED_COLUMNS	  10 /* of a process's row; dropped first */
#define PROCESS_NARROW	  18 /* the same, with its share and PID only */
#define COUNT_COLUMNS_MIN 7
#define KIND_COLUMNS	  8

/* As `perf report` colours shares. */
#define HOT_PERCENT  5.0
#define WARM_PERCENT 0.5

/* --- layout -------------------------------------------------------------------------- */

/* The number of columns of the largest count. */
static int count_columns_of(uint64_t samples)
{
	int columns = 1;

	for (uint64_t left = samples; left >= 10; left /= 10)
		columns++;
	columns += (columns - 1) / 3; /* commas */
	return columns > COUNT_COLUMNS_MIN ? columns : COUNT_COLUMNS_MIN;
}

void top_layout_init(struct top_layout *layout, const struct label_table *labels, uint64_t samples,
		     uint32_t columns, bool colours)
{
	*layout = (struct top_layout){
		.labels = labels,
		.samples = samples,
		.columns = columns,
		.count_columns = count_columns_of(samples),
		.narrow = columns && columns < SHARES_COLUMNS,
		.colours = colours,
	};
}

void top_layout_fit_modules(struct top_layout *layout, const struct function_count *functions,
			    size_t count)
{
	uint32_t width = layout->columns, columns = sizeof("MODULE") - 1;
	uint32_t limit = width && width / 6 < MODULE_COLUMNS ? width / 6 : MODULE_COLUMNS;

	if (width && width < NARROW_COLUMNS)
		return;
	for (size_t i = 0; i < count; i++) {
		const char *module = label_table_module(layout->labels, functions[i].label);
		uint32_t needed = columns_of_name(module, limit);

		columns = needed > columns ? needed : columns;
	}
	layout->module_columns = columns;
}

/* Returns the columns that are left for a name behind `used` columns. */
static uint32_t room_for_name(const struct top_layout *layout, uint32_t used)
{
	uint32_t columns = layout->columns;

	if (!columns)
		return COLUMNS_ANY;
	return columns > used + NAME_COLUMNS_MIN ? columns - used : NAME_COLUMNS_MIN;
}

/* --- parts of a row ------------------------------------------------------------------ */

static void put_colour(struct text *text, const struct top_layout *layout, const char *colour)
{
	if (layout->colours && colour)
		text_put_string(text, colour);
}

static void put_share(struct text *text, const struct top_layout *layout, uint64_t samples)
{
	double percent = run_text_percent(samples, layout->samples);
	bool coloured = percent >= WARM_PERCENT;

	if (coloured)
		put_colour(text, layout, percent >= HOT_PERCENT ? ESCAPE_RED : ESCAPE_GREEN);
	text_printf(text, "%6.2f%%", percent);
	if (coloured)
		put_colour(text, layout, ESCAPE_PLAIN);
}

static void put_counts(struct text *text, const struct top_layout *layout, uint64_t samples)
{
	put_share(text, layout, samples);
	if (!layout->narrow)
		text_put_number(text, samples, layout->count_columns + 1);
	text_put_string(text, "  ");
}

static uint32_t counts_columns(const struct top_layout *layout)
{
	return 7 + (layout->narrow ? 0 : (uint32_t)layout->count_columns + 1) + 2;
}

static void put_counts_heading(struct text *text, const struct top_layout *layout, const char *word)
{
	text_printf(text, "%7s", word);
	if (!layout->narrow)
		text_printf(text, "%*s", layout->count_columns + 1, "SAMPLES");
	text_put_string(text, "  ");
}

static const char *colour_of(const struct top_layout *layout, uint32_t label)
{
	static const char *const colours[] = {
		[FRAME_COLOUR_NONE] = NULL,
		[FRAME_COLOUR_CYAN] = ESCAPE_CYAN,
		[FRAME_COLOUR_YELLOW] = ESCAPE_YELLOW,
		[FRAME_COLOUR_GREEN] = ESCAPE_GREEN,
	};
	uint32_t kind = label_table_get(layout->labels, label)->kind;

	return kind == LABEL_KIND_PROCESS ? ESCAPE_BOLD : colours[frame_kind_info(kind)->colour];
}

/* Returns true if a function has more names than the one that is shown, or a tier. */
static bool has_code_words(const struct label_names *names)
{
	return names->count > 1 || names->tiers > 1u << CODE_TIER_PLAIN;
}

/* Put the names of a function's code, if it has several, and its tiers: " {f, f.cold: cold}". */
static void put_names(struct text *text, const struct top_layout *layout, uint32_t label,
		      uint32_t columns)
{
	const struct label_names *names = label_table_names(layout->labels, label);
	const char *before = "";
	struct text list = {0};

	for (uint32_t i = 0; i < names->count && names->count > 1; i++) {
		text_put_string(&list, i ? ", " : "");
		text_put_string(&list, string_pool_get(layout->labels->strings, names->names[i]));
		before = names->more ? ", ...: " : ": ";
	}
	for (uint32_t tier = CODE_TIER_PLAIN + 1; tier < CODE_TIER_COUNT; tier++) {
		if (!(names->tiers & 1u << tier))
			continue;
		text_put_string(&list, before);
		text_put_string(&list, code_tier_word(tier));
		before = ", ";
	}
	text_put_string(&list, names->more && names->tiers <= 1u << CODE_TIER_PLAIN ? ", ..." : "");
	text_put(&list, "", 1);
	text_put_string(text, " {");
	if (list.failed)
		text->failed = true;
	else
		columns_put_name(text, list.bytes.data,
				 columns == COLUMNS_ANY ? columns : columns - 3);
	text_put_string(text, "}");
	text_deinit(&list);
}

/* Returns the number of columns used. */
static uint32_t put_name(struct text *text, const struct top_layout *layout, uint32_t label,
			 uint32_t columns)
{
	const char *colour = colour_of(layout, label);
	const char *file = label_table_file(layout->labels, label);
	uint32_t used;

	put_colour(text, layout, colour);
	used = columns_put_name(text, label_table_name(layout->labels, label), columns);
	put_colour(text, layout, colour ? ESCAPE_PLAIN : NULL);
	if (*file && (columns == COLUMNS_ANY || columns >= used + FILE_COLUMNS_MIN)) {
		text_put_string(text, " of ");
		used += 4;
		used += columns_put_name(text, file,
					 columns == COLUMNS_ANY ? columns : columns - used);
	}
	return used;
}

/* --- processes ----------------------------------------------------------------------- */

static bool shows_named(const struct top_layout *layout)
{
	return !layout->columns ||
	       layout->columns >= PROCESS_COLUMNS + NAMED_COLUMNS + COMM_COLUMNS;
}

void top_put_process_heading(struct text *text, const struct top_layout *layout)
{
	put_colour(text, layout, ESCAPE_BOLD);
	text_printf(text, "%7s", "SHARE");
	if (!layout->narrow) {
		text_printf(text, "%11s", "SAMPLES");
		if (shows_named(layout))
			text_printf(text, "%*s", NAMED_COLUMNS, "NAMED");
		text_printf(text, "%10s%12s", "RESOLVED", "JIT METHODS");
	}
	text_printf(text, "%9s  %s", "PID", "PROCESS");
	put_colour(text, layout, ESCAPE_PLAIN);
}

void top_put_process(struct text *text, const struct top_layout *layout,
		     const struct top_process *process)
{
	uint32_t columns =
		room_for_name(layout, layout->narrow	    ? PROCESS_NARROW
				      : shows_named(layout) ? PROCESS_COLUMNS + NAMED_COLUMNS
							    : PROCESS_COLUMNS);

	put_share(text, layout, process->samples);
	if (!layout->narrow) {
		text_put_number(text, process->samples, 11);
		if (shows_named(layout))
			text_printf(text, "%*.1f%%", NAMED_COLUMNS - 1,
				    run_text_percent(process->named, process->samples));
		text_printf(text, "%9.1f%%", run_text_percent(process->resolved, process->taken));
		text_put_number(text, process->jit_methods, 12);
	}
	text_printf(text, process->pid ? "%9u  " : "%9.0u  ", process->pid);
	columns_put_name(text, label_table_name(layout->labels, process->label),
			 columns < COMM_COLUMNS ? columns : COMM_COLUMNS);
}

/* --- functions ----------------------------------------------------------------------- */

void top_put_function_heading(struct text *text, const struct top_layout *layout)
{
	put_colour(text, layout, ESCAPE_BOLD);
	put_counts_heading(text, layout, "SELF");
	put_counts_heading(text, layout, "TOTAL");
	text_printf(text, "%-6s  ", "KIND");
	if (layout->module_columns)
		text_printf(text, "%-*s  ", (int)layout->module_columns, "MODULE");
	text_put_string(text, "FUNCTION");
	put_colour(text, layout, ESCAPE_PLAIN);
}

void top_put_function(struct text *text, const struct top_layout *layout,
		      const struct function_count *function)
{
	uint32_t used = 2 * counts_columns(layout) + KIND_COLUMNS, columns;
	const char *module = label_table_module(layout->labels, function->label);

	put_counts(text, layout, function->self);
	put_counts(text, layout, function->total);
	text_printf(text, "%-6s  ", label_table_kind(layout->labels, function->label));
	if (layout->module_columns) {
		columns_put_padded(text, *module ? module : "no stack", layout->module_columns);
		text_put_string(text, "  ");
		used += layout->module_columns + 2;
	}
	columns = room_for_name(layout, used);
	used = put_name(text, layout, function->label, columns);
	if (has_code_words(label_table_names(layout->labels, function->label)) &&
	    columns - used >= NAMES_COLUMNS_MIN)
		put_names(text, layout, function->label,
			  columns == COLUMNS_ANY ? COLUMNS_ANY : columns - used);
}

/* --- the tree ------------------------------------------------------------------------ */

void top_put_node_heading(struct text *text, const struct top_layout *layout)
{
	put_colour(text, layout, ESCAPE_BOLD);
	put_counts_heading(text, layout, "TOTAL");
	text_printf(text, "%-6s  %s", "KIND", "TREE");
	put_colour(text, layout, ESCAPE_PLAIN);
}

/* Indentation takes a third of the room at most. Returns the columns that are left for a name. */
static uint32_t put_indent(struct text *text, const struct top_layout *layout, const char *kind,
			   uint32_t depth)
{
	uint32_t used = counts_columns(layout) + KIND_COLUMNS;
	uint32_t columns = room_for_name(layout, used), indent = depth < 500 ? 2 * depth : 1000;

	if (columns != COLUMNS_ANY && indent > columns / 3)
		indent = columns / 3;
	text_printf(text, "%-6s  %*s", kind, (int)indent, "");
	return columns == COLUMNS_ANY ? columns : columns - indent;
}

void top_put_node(struct text *text, const struct top_layout *layout,
		  const struct frame_tree_node *node, uint32_t depth, const char *mark)
{
	uint32_t columns;

	put_counts(text, layout, node->total);
	columns = put_indent(text, layout, label_table_kind(layout->labels, node->label), depth);
	text_put_string(text, mark);
	put_name(text, layout, node->label,
		 columns == COLUMNS_ANY ? columns : columns - (uint32_t)strlen(mark));
}

void top_put_skipped(struct text *text, const struct top_layout *layout,
		     const struct frame_tree_node *node, uint32_t depth, uint32_t skipped)
{
	put_counts(text, layout, node->total);
	put_indent(text, layout, "", depth);
	text_printf(text, "... %u frames", skipped);
}
