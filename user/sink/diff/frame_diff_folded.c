/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "sink/format/folded.h"
#include "sink/diff/frame_diff_tree.h"
#include "sink/write/out.h"

#define WRITE_BYTES (64u << 10)

/*
 * The difference by the text of lines: stacks that differ only in parts that folded stacks do not
 * show are one line.
 */
struct folded_diff {
	struct string_pool *texts; /* label numbers are its string numbers */
	uint32_t text_count;
	struct frame_diff_tree tree;
	struct text scratch;
	VEC(size_t) prefixes; /* lengths of the current line after each frame */
};

static void folded_diff_deinit(struct folded_diff *f)
{
	string_pool_destroy(f->texts);
	frame_diff_tree_deinit(&f->tree);
	text_deinit(&f->scratch);
	vec_deinit(&f->prefixes);
}

static int add_text(struct folded_diff *f, const struct frame_diff_label *label, uint32_t *ret)
{
	const struct frame_text frame = {
		.name = label->name,
		.kind = label->kind,
		.inlined = label->inlined,
	};
	struct text *text = &f->scratch;
	int err;

	text->bytes.size = 0;
	if (*label->module)
		folded_put_frame(text, &frame);
	else
		folded_put_process(text, label->name);
	if (text->failed)
		return -ENOMEM;
	err = string_pool_add(f->texts, text->bytes.data, text->bytes.size, ret);
	if (!err && *ret >= f->text_count)
		f->text_count = *ret + 1;
	return err;
}

static int compare_texts(const void *a, const void *b, void *context)
{
	return strcmp(string_pool_get(context, *(const uint32_t *)a),
		      string_pool_get(context, *(const uint32_t *)b));
}

static int make(struct folded_diff *f, const struct frame_diff *diff)
{
	uint32_t label_count, count;
	const struct frame_diff_label *labels = frame_diff_labels(diff, &label_count);
	const struct frame_diff_node *nodes = frame_diff_nodes(diff, &count);
	AUTO_FREE uint32_t *texts = calloc(label_count, sizeof(*texts));
	AUTO_FREE uint32_t *places = calloc(count, sizeof(*places));
	int err = texts && places ? string_pool_create(&f->texts) : -ENOMEM;

	f->text_count = 1; /* a new pool has the empty string */
	for (uint32_t i = 0; i < label_count && !err; i++)
		err = add_text(f, &labels[i], &texts[i]);
	for (uint32_t i = 0; i < count && !err; i++) {
		struct frame_diff_node node = nodes[i];

		node.label = texts[node.label];
		if (i)
			node.parent = places[node.parent];
		err = frame_diff_tree_add(&f->tree, &node, &places[i]);
	}
	return err ?: frame_diff_tree_order(&f->tree, f->text_count, compare_texts, f->texts);
}

/* Returns value * to / from, rounded down as by difffolded.pl. */
static uint64_t scaled(uint64_t value, uint64_t from, uint64_t to)
{
	return from && to ? (uint64_t)((unsigned __int128)value * to / from) : value;
}

/* Change the line from the stack of the previous node to that of this node. */
static int put_stack(struct folded_diff *f, uint32_t number, struct text *line, uint32_t *depths)
{
	const struct frame_diff_node *node = &f->tree.nodes.data[number];
	uint32_t depth = node->parent ? depths[node->parent] + 1 : 0;

	depths[number] = depth;
	f->prefixes.size = depth;
	line->bytes.size = depth ? f->prefixes.data[depth - 1] : 0;
	if (depth)
		text_put_string(line, ";");
	text_put_string(line, string_pool_get(f->texts, node->label));
	return line->failed ? -ENOMEM : vec_push(&f->prefixes, line->bytes.size);
}

static int write_lines(struct folded_diff *f, bool normalize, FILE *out)
{
	const struct frame_diff_node *nodes = f->tree.nodes.data;
	AUTO_FREE uint32_t *depths = calloc(f->tree.nodes.size, sizeof(*depths));
	CLEANUP(text_deinit) struct text line = {0};
	CLEANUP(text_deinit) struct text output = {0};
	int err = depths ? 0 : -ENOMEM;

	for (uint32_t i = 1; i < f->tree.nodes.size && !err; i++) {
		uint64_t before = nodes[i].self[DIFF_BEFORE], after = nodes[i].self[DIFF_AFTER];

		err = put_stack(f, i, &line, depths);
		if (err || (!before && !after))
			continue;
		if (normalize)
			before = scaled(before, nodes[0].total[DIFF_BEFORE],
					nodes[0].total[DIFF_AFTER]);
		text_put(&output, line.bytes.data, line.bytes.size);
		text_put_string(&output, " ");
		text_put_decimal(&output, before);
		text_put_string(&output, " ");
		text_put_decimal(&output, after);
		text_put_string(&output, "\n");
		if (output.bytes.size >= WRITE_BYTES)
			err = text_write(&output, out);
	}
	return err ?: text_write(&output, out);
}

int frame_diff_write_folded(FILE *out, const struct frame_diff *diff, bool normalize)
{
	CLEANUP(folded_diff_deinit) struct folded_diff f = {0};
	int err = make(&f, diff);

	err = err ?: write_lines(&f, normalize, out);
	return err ?: out_flush(out);
}
