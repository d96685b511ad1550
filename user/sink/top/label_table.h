/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions by number (struct frame_text): all code of a function has its label. Numbers of labels
 * keep their meaning for the life of a table, so they identify a function over several trees of
 * frames (frame_tree.h).
 */
#ifndef JITBPF_SINK_TOP_LABEL_TABLE_H
#define JITBPF_SINK_TOP_LABEL_TABLE_H

#include "base/string_pool.h"
#include "sink/frame_tree.h"
#include "sink/same_names.h"
#include "sink/write/row_table.h"

#define LABEL_ROOT 0 /* the label of a tree's root */

/* Kinds of labels: those of frames (enum frame_kind), and these. */
#define LABEL_KIND_ROOT	   UINT32_MAX
#define LABEL_KIND_PROCESS (UINT32_MAX - 1)

/* Members but kind are strings of the table. */
struct top_label {
	uint32_t name;	 /* of the function */
	uint32_t module; /* whole path; empty for a process */
	uint32_t file;	 /* empty if it does not tell the function apart */
	uint32_t kind;
};

#define LABEL_NAMES_MAX 4 /* names in full that a label keeps: the first ones */

struct label_names {
	uint32_t names[LABEL_NAMES_MAX]; /* strings */
	uint32_t count;
	bool more;	/* there are others */
	uint16_t tiers; /* bits 1 << enum code_tier, of its code */
};

struct label_table {
	struct string_pool *strings;
	struct row_table rows;	       /* struct top_label */
	VEC(struct label_names) names; /* by label */
	struct same_names same;	       /* by label */
};

/* Returns 0 or -ENOMEM; the caller calls label_table_deinit() in both cases. */
int label_table_init(struct label_table *table);
void label_table_deinit(struct label_table *table);

/* Find or add the label of a process. Returns 0 or -ENOMEM. */
int label_table_add_process(struct label_table *table, const char *name, uint32_t *ret);

/* Set *ret to label the frames of a tree with this table, which it borrows. */
void label_table_init_labels(struct label_table *table, struct frame_labels *ret);

static inline uint32_t label_table_size(const struct label_table *table)
{
	return table->rows.count;
}

/*
 * Return a label, its name, what to show of its source file beside the name (same_names.h), and the
 * file name of its module. The name is the name in full, if all code of the function has one, else
 * the function's. Strings are borrowed, never NULL, and untrusted.
 */
const struct top_label *label_table_get(const struct label_table *table, uint32_t label);
const char *label_table_name(const struct label_table *table, uint32_t label);
const char *label_table_file(const struct label_table *table, uint32_t label);
const char *label_table_module(const struct label_table *table, uint32_t label);

/* Returns the names in full of a label's code. Borrowed until the next label is added. */
const struct label_names *label_table_names(const struct label_table *table, uint32_t label);

/* Returns the word for a label's kind: "kernel", "native", "jit", "interp", or "". */
const char *label_table_kind(const struct label_table *table, uint32_t label);

/* Compare by name, module, kind and source file, as strcmp() does. */
int label_table_compare(const struct label_table *table, uint32_t a, uint32_t b);

#endif
