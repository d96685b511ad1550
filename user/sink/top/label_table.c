/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/top/label_table.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "base/scope.h"

static int keep(struct label_table *table, const char *s, uint32_t *ret)
{
	return string_pool_add(table->strings, s, strlen(s), ret);
}

_Static_assert(CODE_TIER_COUNT <= 16, "bits of label_names.tiers");

static void add_name(struct label_names *names, uint32_t name)
{
	for (uint32_t i = 0; i < names->count; i++) {
		if (names->names[i] == name)
			return;
	}
	if (names->count < LABEL_NAMES_MAX)
		names->names[names->count++] = name;
	else
		names->more = true;
}

static int add(struct label_table *table, const struct frame_text *frame, uint32_t kind,
	       uint32_t *ret)
{
	struct top_label label = {.kind = kind};
	uint32_t name;

	if (keep(table, frame->function, &label.name) ||
	    keep(table, frame->module, &label.module) ||
	    keep(table, frame->function_file, &label.file) || keep(table, frame->name, &name) ||
	    vec_reserve(&table->names, table->rows.count + 1) ||
	    row_table_add(&table->rows, &label, ret))
		return -ENOMEM;
	if (*ret == table->names.size) {
		const struct same_name same = {label.name, label.module, label.kind};

		if (same_names_add(&table->same, &same,
				   string_pool_get(table->strings, label.file)))
			return -ENOMEM;
		table->names.data[table->names.size++] = (struct label_names){0};
	}
	add_name(&table->names.data[*ret], name);
	table->names.data[*ret].tiers |= (uint16_t)(1u << frame->tier);
	return 0;
}

/* Add a label that is no frame. */
static int add_plain(struct label_table *table, const char *name, uint32_t kind, uint32_t *ret)
{
	const struct frame_text plain = {
		.name = name, .module = "", .function = name, .function_file = ""};

	return add(table, &plain, kind, ret);
}

int label_table_init(struct label_table *table)
{
	uint32_t root;

	*table = (struct label_table){.rows.row_bytes = sizeof(struct top_label)};
	same_names_init(&table->same);
	return string_pool_create(&table->strings)
		       ?: add_plain(table, "", LABEL_KIND_ROOT, &root); /* the first: LABEL_ROOT */
}

void label_table_deinit(struct label_table *table)
{
	row_table_deinit(&table->rows);
	vec_deinit(&table->names);
	same_names_deinit(&table->same);
	string_pool_destroy(table->strings);
	table->strings = NULL;
}

static int label_frame(void *table, const struct frame_text *frame, uint32_t *ret)
{
	return add(table, frame, frame->function_kind, ret);
}

int label_table_add_process(struct label_table *table, const char *name, uint32_t *ret)
{
	return add_plain(table, name, LABEL_KIND_PROCESS, ret);
}

static int label_process(void *table, const char *name, uint32_t *ret)
{
	return label_table_add_process(table, name, ret);
}

void label_table_init_labels(struct label_table *table, struct frame_labels *ret)
{
	*ret = (struct frame_labels){label_frame, label_process, table};
}

const struct top_label *label_table_get(const struct label_table *table, uint32_t label)
{
	return row_table_get(&table->rows, label < table->rows.count ? label : LABEL_ROOT);
}

const struct label_names *label_table_names(const struct label_table *table, uint32_t label)
{
	return &table->names.data[label < table->names.size ? label : LABEL_ROOT];
}

const char *label_table_name(const struct label_table *table, uint32_t label)
{
	const struct label_names *names = label_table_names(table, label);

	return string_pool_get(table->strings, names->count == 1
						       ? names->names[0]
						       : label_table_get(table, label)->name);
}

const char *label_table_file(const struct label_table *table, uint32_t label)
{
	return same_names_file(&table->same, label < table->names.size ? label : LABEL_ROOT);
}

const char *label_table_module(const struct label_table *table, uint32_t label)
{
	return path_file(string_pool_get(table->strings, label_table_get(table, label)->module));
}

const char *label_table_kind(const struct label_table *table, uint32_t label)
{
	return frame_kind_info(label_table_get(table, label)->kind)->short_word;
}

int label_table_compare(const struct label_table *table, uint32_t a, uint32_t b)
{
	const struct top_label *label_a = label_table_get(table, a);
	const struct top_label *label_b = label_table_get(table, b);
	int order = strcmp(label_table_name(table, a), label_table_name(table, b));

	order = order ?: strcmp(label_table_module(table, a), label_table_module(table, b));
	order = order ?: (label_a->kind > label_b->kind) - (label_a->kind < label_b->kind);
	order = order
			?: strcmp(string_pool_get(table->strings, label_a->module),
				  string_pool_get(table->strings, label_b->module));
	return order
		       ?: strcmp(string_pool_get(table->strings, label_a->file),
				 string_pool_get(table->strings, label_b->file));
}
