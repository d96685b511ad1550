/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/diff/frame_diff.h"

#include <string.h>

#include "base/path.h"
#include "base/scope.h"
#include "engines/engines.h"
#include "sink/diff/frame_diff_tree.h"
#include "sink/write/row_table.h"
#include "sink/write/text.h"

/* The key of a label: labels with equal keys are one. Members are string numbers. */
struct label_key {
	uint32_t name;
	uint32_t module; /* file name of the module */
	uint32_t kind;	 /* 2 * kind, plus 1 if inlined */
};

struct frame_diff {
	struct string_pool *strings;
	struct row_table keys; /* of struct label_key; row numbers are label numbers */
	VEC(struct frame_diff_label) labels;
	struct frame_diff_tree tree;
	bool strip_hex;
	struct text scratch;
};

DEFINE_CLEANUP(struct frame_diff *, frame_diff_destroy);

void frame_diff_destroy(struct frame_diff *diff)
{
	if (!diff)
		return;
	string_pool_destroy(diff->strings);
	row_table_deinit(&diff->keys);
	vec_deinit(&diff->labels);
	frame_diff_tree_deinit(&diff->tree);
	text_deinit(&diff->scratch);
	free(diff);
}

static int keep(struct frame_diff *diff, const char *s, uint32_t *ret)
{
	return string_pool_add(diff->strings, s, strlen(s), ret);
}

/* Add a name with each number like 0x12 replaced by "0x...". */
static int keep_stripped(struct frame_diff *diff, const char *name, uint32_t *ret)
{
	struct text *text = &diff->scratch;
	const char *plain = name; /* start of the text that is not copied yet */

	text->bytes.size = 0;
	while (*name) {
		bool prefix = name[0] == '0' && name[1] == 'x';
		size_t digits = prefix ? strspn(name + 2, "0123456789abcdefABCDEF") : 0;

		if (!digits) {
			name++;
			continue;
		}
		text_put(text, plain, (size_t)(name + 2 - plain));
		text_put_string(text, "...");
		name += 2 + digits;
		plain = name;
	}
	text_put(text, plain, (size_t)(name - plain));
	if (text->failed)
		return -ENOMEM;
	return string_pool_add(diff->strings, text->bytes.data, text->bytes.size, ret);
}

static int keep_name(struct frame_diff *diff, const struct frame_text *frame, uint32_t *ret)
{
	bool is_jit = frame->kind == FRAME_KIND_JIT;
	AUTO_FREE char *unnumbered = is_jit ? strdup(frame->name) : NULL;

	if (is_jit && !unnumbered)
		return -ENOMEM;
	if (is_jit)
		engine_unnumber(unnumbered);
	return (diff->strip_hex ? keep_stripped : keep)(diff, unnumbered ?: frame->name, ret);
}

static int add_label(struct frame_diff *diff, const struct frame_text *frame, uint32_t *ret)
{
	struct label_key key = {.kind = 2 * (uint32_t)frame->kind + frame->inlined};
	struct frame_diff_label label = {
		.line = frame->line,
		.kind = frame->kind,
		.inlined = frame->inlined,
	};
	uint32_t number, module, file;
	int err;

	err = keep_name(diff, frame, &key.name);
	err = err ?: keep(diff, path_file(frame->module), &key.module);
	err = err ?: keep(diff, frame->module, &module);
	err = err ?: keep(diff, frame->file, &file);
	err = err ?: vec_reserve(&diff->labels, diff->labels.size + 1);
	err = err ?: row_table_add(&diff->keys, &key, &number);
	if (err)
		return err;
	if (number == diff->labels.size) {
		label.name = string_pool_get(diff->strings, key.name);
		label.module = string_pool_get(diff->strings, module);
		label.file = string_pool_get(diff->strings, file);
		diff->labels.data[diff->labels.size++] = label;
	}
	*ret = number;
	return 0;
}

static int label_frame(void *context, const struct frame_text *frame, uint32_t *ret)
{
	return add_label(context, frame, ret);
}

static int label_process(void *context, const char *comm, uint32_t *ret)
{
	const struct frame_text process = {.name = comm, .module = "", .file = ""};

	return add_label(context, &process, ret);
}

static int add_view(struct frame_diff *diff, const struct view *view, enum frame_diff_side side)
{
	const struct frame_labels ops = {label_frame, label_process, diff};
	CLEANUP(frame_tree_deinit) struct frame_tree tree = {0};
	AUTO_FREE uint32_t *places = NULL; /* by node of the tree: node of the diff */
	int err = frame_tree_build(&tree, view, &ops);

	if (err)
		return err;
	places = calloc(tree.nodes.size, sizeof(*places));
	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < tree.nodes.size && !err; i++) {
		const struct frame_tree_node *from = &tree.nodes.data[i];
		struct frame_diff_node node = {
			.parent = i ? places[from->parent] : FRAME_TREE_NONE,
			.label = from->label,
		};

		node.self[side] = from->self;
		node.total[side] = from->total;
		err = frame_diff_tree_add(&diff->tree, &node, &places[i]);
	}
	return err;
}

static int compare_labels(const void *a_, const void *b_, void *context)
{
	const struct frame_diff_label *labels = context;
	const struct frame_diff_label *a = &labels[*(const uint32_t *)a_];
	const struct frame_diff_label *b = &labels[*(const uint32_t *)b_];
	int order = strcmp(a->name, b->name);

	order = order ?: strcmp(a->module, b->module);
	order = order ?: (int)a->kind - (int)b->kind;
	return order ?: a->inlined - b->inlined;
}

int frame_diff_create(const struct view *before, const struct view *after, bool strip_hex,
		      struct frame_diff **ret)
{
	CLEANUP(frame_diff_destroyp) struct frame_diff *diff = calloc(1, sizeof(*diff));
	uint32_t all;
	int err;

	if (!diff)
		return -ENOMEM;
	diff->strip_hex = strip_hex;
	diff->keys.row_bytes = sizeof(struct label_key);
	err = string_pool_create(&diff->strings);
	err = err ?: label_process(diff, "all", &all); /* node 0's */
	/* The view that is added first determines file and line of a label. */
	err = err ?: add_view(diff, after, DIFF_AFTER);
	err = err ?: add_view(diff, before, DIFF_BEFORE);
	err = err
		      ?: frame_diff_tree_order(&diff->tree, diff->labels.size, compare_labels,
					       diff->labels.data);
	if (err)
		return err;
	*ret = TAKE_PTR(diff);
	return 0;
}

const struct frame_diff_node *frame_diff_nodes(const struct frame_diff *diff, uint32_t *ret_count)
{
	*ret_count = (uint32_t)diff->tree.nodes.size;
	return diff->tree.nodes.data;
}

const struct frame_diff_label *frame_diff_labels(const struct frame_diff *diff, uint32_t *ret_count)
{
	*ret_count = (uint32_t)diff->labels.size;
	return diff->labels.data;
}
