/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/top/label_table.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "base/scope.h"

static int add(struct label_table *table, const char *name, const char *module, uint32_t kind,
	       uint32_t *ret)
{
	struct top_label label = {.kind = kind};

	if (string_pool_add(table->strings, name, strlen(name), &label.name) ||
	    string_pool_add(table->strings, module, strlen(module), &label.module) ||
	    row_table_add(&table->rows, &label, ret))
		return -ENOMEM;
	return 0;
}

int label_table_init(struct label_table *table)
{
	uint32_t root;

	*table = (struct label_table){.rows.row_bytes = sizeof(struct top_label)};
	return string_pool_create(&table->strings)
		       ?: add(table, "", "", LABEL_KIND_ROOT, &root); /* the first: LABEL_ROOT */
}

void label_table_deinit(struct label_table *table)
{
	row_table_deinit(&table->rows);
	string_pool_destroy(table->strings);
	table->strings = NULL;
}

static int label_frame(void *table, const struct frame_text *frame, uint32_t *ret)
{
	return add(table, frame->name, path_file(frame->module), frame->kind, ret);
}

int label_table_add_process(struct label_table *table, const char *name, uint32_t *ret)
{
	return add(table, name, "", LABEL_KIND_PROCESS, ret);
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

const char *label_table_name(const struct label_table *table, uint32_t label)
{
	return string_pool_get(table->strings, label_table_get(table, label)->name);
}

const char *label_table_module(const struct label_table *table, uint32_t label)
{
	return string_pool_get(table->strings, label_table_get(table, label)->module);
}

const char *label_table_kind(const struct label_table *table, uint32_t label)
{
	static const char *const words[] = {
		[FRAME_KIND_UNKNOWN] = "",	     [FRAME_KIND_KERNEL] = "kernel",
		[FRAME_KIND_NATIVE] = "native",	     [FRAME_KIND_JIT] = "jit",
		[FRAME_KIND_INTERPRETED] = "interp",
	};
	uint32_t kind = label_table_get(table, label)->kind;

	return kind < ARRAY_SIZE(words) ? words[kind] : "";
}

int label_table_compare(const struct label_table *table, uint32_t a, uint32_t b)
{
	uint32_t kind_a = label_table_get(table, a)->kind, kind_b = label_table_get(table, b)->kind;
	int order = strcmp(label_table_name(table, a), label_table_name(table, b));

	order = order ?: strcmp(label_table_module(table, a), label_table_module(table, b));
	return order ?: (kind_a > kind_b) - (kind_a < kind_b);
}
