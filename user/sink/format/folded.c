/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Folded stacks: "process;outermost;...;leaf COUNT", the input of FlameGraph, speedscope and
 * others. As with stackcollapse-perf.pl --all, kernel frames end with _[k], JIT code with _[j],
 * and, if the view does not merge the code of a function, inlined frames of any kind with _[i].
 * Each stack is one line, and lines are sorted by their bytes.
 */
#include "sink/format/folded.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "sink/frame_tree.h"
#include "sink/write/out.h"
#include "sink/write/text.h"

#define WRITE_BYTES (64u << 10)

/* Labels are texts of frames, so frames with equal text are one. */
struct labels {
	const struct view *view;
	struct string_pool *pool;
	struct text scratch;
};

static int label_add(struct labels *labels, uint32_t *ret)
{
	struct text *text = &labels->scratch;
	size_t size = text->bytes.size;

	text->bytes.size = 0;
	if (text->failed)
		return -ENOMEM;
	return string_pool_add(labels->pool, text->bytes.data, size, ret);
}

void folded_put_frame(struct text *text, const struct frame_text *frame)
{
	text_put_name(text, frame->name, ';', ':');
	text_put_string(text, frame->inlined ? "_[i]" : frame_kind_info(frame->kind)->suffix);
}

void folded_put_process(struct text *text, const char *comm)
{
	text_put_name(text, comm, ';', ':');
}

static int label_frame(void *context, const struct frame_text *frame, uint32_t *ret)
{
	struct labels *labels = context;
	struct frame_text shown = *frame;

	frame_text_merge(labels->view, &shown);
	folded_put_frame(&labels->scratch, &shown);
	return label_add(labels, ret);
}

static int label_process(void *context, const char *comm, uint32_t *ret)
{
	struct labels *labels = context;

	folded_put_process(&labels->scratch, comm);
	return label_add(labels, ret);
}

/*
 * A part of the output whose lines begin with the same text: the line of the stack that ends at a
 * node, or the lines of all stacks that continue from it.
 */
struct part {
	uint32_t node;
	bool goes_on;
	size_t prefix_bytes; /* length of the line before this node's label */
};

struct writer {
	const struct frame_tree *tree;
	const struct string_pool *pool;
	VEC(struct part) parts; /* not written yet; the next one is last */
	struct text line, output;
};

static void writer_deinit(struct writer *w)
{
	vec_deinit(&w->parts);
	text_deinit(&w->line);
	text_deinit(&w->output);
}

/* A label and the text that follows it in the output, read as one string. */
struct reading {
	const char *at;
	const char *behind;
	char tail[24];
};

static void reading_init(struct reading *r, const struct writer *w, const struct part *part)
{
	const struct frame_tree_node *node = &w->tree->nodes.data[part->node];

	if (part->goes_on)
		strcpy(r->tail, ";");
	else
		snprintf(r->tail, sizeof(r->tail), " %llu", (unsigned long long)node->self);
	r->at = string_pool_get(w->pool, node->label);
	r->behind = r->tail;
}

/* Returns the next byte, 0 at the end. */
static uint8_t reading_next(struct reading *r)
{
	if (!*r->at && r->behind) {
		r->at = r->behind;
		r->behind = NULL;
	}
	return *r->at ? (uint8_t)*r->at++ : 0;
}

/*
 * Reverse order of the output's bytes. Labels have no ';', so all stacks that continue from a node
 * are adjacent; but "f 5" comes before "f g;h", which comes before "f;x".
 */
static int compare_parts(const void *a_, const void *b_, void *context)
{
	struct reading a, b;
	uint8_t ca, cb;

	reading_init(&a, context, a_);
	reading_init(&b, context, b_);
	do {
		ca = reading_next(&a);
		cb = reading_next(&b);
	} while (ca && ca == cb);
	return cb - ca;
}

/* Add the parts of a node's children; the first one in order is last. */
static int push_children(struct writer *w, uint32_t parent, size_t prefix_bytes)
{
	const struct frame_tree_node *nodes = w->tree->nodes.data;
	size_t first = w->parts.size;

	for (uint32_t i = nodes[parent].first_child; i != FRAME_TREE_NONE;
	     i = nodes[i].next_sibling) {
		struct part part = {.node = i, .prefix_bytes = prefix_bytes};

		if (nodes[i].self && vec_push(&w->parts, part))
			return -ENOMEM;
		part.goes_on = true;
		if (nodes[i].first_child != FRAME_TREE_NONE && vec_push(&w->parts, part))
			return -ENOMEM;
	}
	if (w->parts.size > first)
		qsort_r(w->parts.data + first, w->parts.size - first, sizeof(*w->parts.data),
			compare_parts, w);
	return 0;
}

static int write_part(struct writer *w, struct part part, FILE *out)
{
	const struct frame_tree_node *node = &w->tree->nodes.data[part.node];

	w->line.bytes.size = part.prefix_bytes;
	text_put_string(&w->line, string_pool_get(w->pool, node->label));
	if (part.goes_on) {
		text_put_string(&w->line, ";");
		return w->line.failed ? -ENOMEM : push_children(w, part.node, w->line.bytes.size);
	}
	text_put_string(&w->line, " ");
	text_put_decimal(&w->line, node->self);
	text_put_string(&w->line, "\n");
	if (w->line.failed)
		return -ENOMEM;
	text_put(&w->output, w->line.bytes.data, w->line.bytes.size);
	return w->output.bytes.size >= WRITE_BYTES ? text_write(&w->output, out) : 0;
}

static int write_lines(const struct frame_tree *tree, const struct string_pool *pool, FILE *out)
{
	CLEANUP(writer_deinit) struct writer w = {.tree = tree, .pool = pool};
	int err = push_children(&w, 0, 0);

	while (!err && w.parts.size)
		err = write_part(&w, w.parts.data[--w.parts.size], out);
	return err ? err : text_write(&w.output, out);
}

static int folded_finish(struct sink *sink, const struct view *view)
{
	CLEANUP(frame_tree_deinit) struct frame_tree tree = {0};
	struct labels labels = {.view = view};
	const struct frame_labels ops = {label_frame, label_process, &labels};
	int err = string_pool_create(&labels.pool);

	if (!err)
		err = frame_tree_build(&tree, view, &ops);
	if (!err)
		err = write_lines(&tree, labels.pool, out_stream(sink));
	if (!err)
		err = out_flush(out_stream(sink));
	text_deinit(&labels.scratch);
	string_pool_destroy(labels.pool);
	return err;
}

const struct sink_ops sink_folded = {
	.name = "folded",
	.extension = ".folded",
	.counts_only = true,
	.profile_times = 2,
	.create = out_create,
	.finish = folded_finish,
	.destroy = out_destroy,
};
