/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/diff/frame_diff.h"

#include <string.h>

#include "base/path.h"
#include "base/scope.h"
#include "sink/diff/frame_diff_labels.h"

DEFINE_CLEANUP(struct frame_diff *, frame_diff_destroy);

void frame_diff_destroy(struct frame_diff *diff)
{
	if (!diff)
		return;
	string_pool_destroy(diff->strings);
	row_table_deinit(&diff->keys);
	vec_deinit(&diff->labels);
	vec_deinit(&diff->sides);
	for (int side = 0; side < DIFF_SIDES; side++)
		vec_deinit(&diff->hidden[side]);
	frame_diff_tree_deinit(&diff->tree);
	text_deinit(&diff->scratch);
	free(diff);
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

static int keep_name(struct frame_diff *diff, const char *name, uint32_t *ret)
{
	return diff->strip_hex ? keep_stripped(diff, name, ret) : frame_diff_keep(diff, name, ret);
}

/* Code of a known function: several names in full are shown as the function's. */
static void add_code(struct frame_diff_label *label, const struct frame_diff_label *code,
		     const char *function)
{
	if (strcmp(label->name, code->name) != 0)
		label->name = function;
	label->inlined &= code->inlined;
}

static int add_label(struct frame_diff *diff, const struct frame_text *frame, uint32_t *ret)
{
	struct label_key key = {.kind = 2 * (uint32_t)frame->function_kind +
					(diff->exact && frame->inlined)};
	struct frame_diff_label label = {
		.line = frame->line,
		.kind = frame->kind,
		.inlined = frame->inlined,
	};
	uint32_t number, name, module, file;
	int err;

	err = keep_name(diff, frame->function, &key.name);
	err = err ?: keep_name(diff, frame->name, &name);
	err = err ?: frame_diff_keep(diff, path_file(frame->module), &key.module);
	err = err ?: frame_diff_keep(diff, frame->function_file, &key.file);
	err = err ?: frame_diff_keep(diff, frame->module, &module);
	err = err ?: frame_diff_keep(diff, frame->file, &file);
	err = err ?: vec_reserve(&diff->labels, diff->labels.size + 1);
	err = err ?: vec_reserve(&diff->sides, diff->labels.size + 1);
	err = err ?: row_table_add(&diff->keys, &key, &number);
	if (err)
		return err;
	label.name = string_pool_get(diff->strings, name);
	label.module = string_pool_get(diff->strings, module);
	label.file = string_pool_get(diff->strings, file);
	label.function_file = string_pool_get(diff->strings, key.file);
	if (number == diff->labels.size) {
		diff->labels.data[diff->labels.size++] = label;
		diff->sides.data[diff->sides.size++] = 0;
	}
	add_code(&diff->labels.data[number], &label, string_pool_get(diff->strings, key.name));
	diff->sides.data[number] |= (uint8_t)(1u << diff->side);
	*ret = number;
	return 0;
}

static int label_frame(void *context, const struct frame_text *frame, uint32_t *ret)
{
	return add_label(context, frame, ret);
}

static int label_process(void *context, const char *comm, uint32_t *ret)
{
	const struct frame_text process = {
		.name = comm, .module = "", .file = "", .function = comm, .function_file = ""};

	return add_label(context, &process, ret);
}

/* Build the tree of a side, and add its labels. */
static int build(struct frame_diff *diff, const struct view *view, enum frame_diff_side side,
		 struct frame_tree *tree)
{
	const struct frame_labels ops = {label_frame, label_process, diff};

	diff->side = side;
	return frame_tree_build(tree, view, &ops)
		       ?: hidden_labels_add(view, &ops, &diff->hidden[side]);
}

static int add_tree(struct frame_diff *diff, const struct frame_tree *tree,
		    enum frame_diff_side side, const uint32_t *final)
{
	/* by node of the tree: node of the diff */
	AUTO_FREE uint32_t *places = calloc(tree->nodes.size, sizeof(*places));
	int err = places ? 0 : -ENOMEM;

	for (size_t i = 0; i < tree->nodes.size && !err; i++) {
		const struct frame_tree_node *from = &tree->nodes.data[i];
		struct frame_diff_node node = {
			.parent = i ? places[from->parent] : FRAME_TREE_NONE,
			.label = final[from->label],
		};

		node.self[side] = from->self;
		node.total[side] = from->total;
		err = frame_diff_tree_add(&diff->tree, &node, &places[i]);
	}
	return err;
}

/* --- all ------------------------------------------------------------------------------ */

static int add_views(struct frame_diff *diff, const struct view *before, const struct view *after)
{
	CLEANUP(frame_tree_deinit) struct frame_tree tree_before = {0};
	CLEANUP(frame_tree_deinit) struct frame_tree tree_after = {0};
	AUTO_FREE uint32_t *final = NULL;
	/* The view that is added first determines file and line of a label. */
	int err = build(diff, after, DIFF_AFTER, &tree_after);

	err = err ?: build(diff, before, DIFF_BEFORE, &tree_before);
	if (err)
		return err;
	final = calloc(diff->labels.size, sizeof(*final));
	if (!final)
		return -ENOMEM;
	err = frame_diff_fold(diff, final);
	err = err ?: frame_diff_add_files(diff);
	for (int side = 0; !err && side < DIFF_SIDES; side++) {
		vec_for_each (hidden, &diff->hidden[side])
			hidden->label = final[hidden->label];
	}
	err = err ?: add_tree(diff, &tree_after, DIFF_AFTER, final);
	frame_tree_deinit(&tree_after); /* before the other tree is added, which needs memory */
	return err ?: add_tree(diff, &tree_before, DIFF_BEFORE, final);
}

static int compare_labels(const void *a_, const void *b_, void *context)
{
	const struct frame_diff_label *labels = context;
	const struct frame_diff_label *a = &labels[*(const uint32_t *)a_];
	const struct frame_diff_label *b = &labels[*(const uint32_t *)b_];
	int order = strcmp(a->name, b->name);

	order = order ?: strcmp(a->module, b->module);
	order = order ?: (int)a->kind - (int)b->kind;
	order = order ?: a->inlined - b->inlined;
	return order ?: strcmp(a->file, b->file);
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
	diff->exact = view_is_exact(&after->options);
	diff->keys.row_bytes = sizeof(struct label_key);
	err = string_pool_create(&diff->strings);
	err = err ?: label_process(diff, "all", &all); /* node 0's */
	err = err ?: add_views(diff, before, after);
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

const hidden_labels *frame_diff_hidden(const struct frame_diff *diff, enum frame_diff_side side)
{
	return &diff->hidden[side];
}

const struct frame_diff_label *frame_diff_labels(const struct frame_diff *diff, uint32_t *ret_count)
{
	*ret_count = (uint32_t)diff->labels.size;
	return diff->labels.data;
}
