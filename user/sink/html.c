/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The flame graph page: the template flamegraph.html, with the profile put into
 * it as JSON. The page asks for nothing from anywhere.
 */
#include "sink/sink.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "base/scope.h"
#include "sink/frame_tree.h"
#include "sink/json.h"
#include "sink/out.h"
#include "sink/summary_json.h"

/* Relative to the root of the repository, where the compiler runs. */
__asm__(".section .rodata, \"a\", @progbits\n"
	"jitbpf_page: .incbin \"user/sink/flamegraph.html\"\n"
	".byte 0\n"
	".previous\n");

extern const char jitbpf_page[] __attribute__((visibility("hidden")));

#define DATA_MARK "@PROFILE@" /* where in the template the data go; stands there once */

/* Kinds as the page knows them, and a bit for inlined ones. */
enum page_kind {
	PAGE_UNKNOWN,
	PAGE_KERNEL,
	PAGE_NATIVE,
	PAGE_JIT,
	PAGE_INTERPRETED,
	PAGE_PROCESS,
	PAGE_INLINED = 8,
};

struct page_label {
	uint32_t name, module; /* strings */
	uint32_t kind;
};

/* A line of a source file; number 0 is none. */
struct page_source {
	uint32_t file; /* string */
	uint32_t line;
};

/* Everything that nodes refer to, by number in order of appearance. */
struct page {
	const struct view *view;
	struct string_pool *strings;
	VEC(struct page_label) labels;
	struct index_map label_index;
	VEC(struct page_source) sources;
	struct index_map source_index;
	struct frame_tree tree;
	VEC(uint32_t) order; /* tree nodes as the page has them: each before its children */
	VEC(uint32_t) depths;
	VEC(uint32_t) node_sources;
	uint32_t string_count;
};

static void page_deinit(struct page *page)
{
	string_pool_destroy(page->strings);
	vec_deinit(&page->labels);
	index_map_deinit(&page->label_index);
	vec_deinit(&page->sources);
	index_map_deinit(&page->source_index);
	frame_tree_deinit(&page->tree);
	vec_deinit(&page->order);
	vec_deinit(&page->depths);
	vec_deinit(&page->node_sources);
}

static int add_string(struct page *page, const char *s, uint32_t *ret)
{
	int err = string_pool_add(page->strings, s, strlen(s), ret);

	if (!err && *ret >= page->string_count)
		page->string_count = *ret + 1;
	return err;
}

static bool label_equal(const void *items, uint32_t item, const void *key)
{
	return !memcmp((const struct page_label *)items + item, key, sizeof(struct page_label));
}

static int add_label(struct page *page, const char *name, const char *module, uint32_t kind,
		     uint32_t *ret)
{
	struct page_label label = {.kind = kind};
	uint64_t hash;

	if (add_string(page, name, &label.name) || add_string(page, module, &label.module))
		return -ENOMEM;
	hash = hash_bytes(&label, sizeof(label), 0);
	*ret = index_map_find(&page->label_index, hash, label_equal, page->labels.data, &label);
	if (*ret != INDEX_MAP_NONE)
		return 0;
	*ret = (uint32_t)page->labels.size;
	if (vec_push(&page->labels, label))
		return -ENOMEM;
	return index_map_insert(&page->label_index, hash, *ret);
}

static uint32_t page_kind(const struct frame_text *frame)
{
	static const uint32_t kinds[] = {
		[FRAME_KIND_UNKNOWN] = PAGE_UNKNOWN,	     [FRAME_KIND_KERNEL] = PAGE_KERNEL,
		[FRAME_KIND_NATIVE] = PAGE_NATIVE,	     [FRAME_KIND_JIT] = PAGE_JIT,
		[FRAME_KIND_INTERPRETED] = PAGE_INTERPRETED,
	};
	uint32_t kind = (size_t)frame->kind < ARRAY_SIZE(kinds) ? kinds[frame->kind] : PAGE_UNKNOWN;

	return kind | (frame->inlined ? PAGE_INLINED : 0);
}

static int label_frame(void *context, const struct frame_text *frame, uint32_t *ret)
{
	return add_label(context, frame->name, frame->module, page_kind(frame), ret);
}

static int label_process(void *context, const char *comm, uint32_t *ret)
{
	return add_label(context, comm, "", PAGE_PROCESS, ret);
}

static bool source_equal(const void *items, uint32_t item, const void *key)
{
	return !memcmp((const struct page_source *)items + item, key, sizeof(struct page_source));
}

/* The source line where a node has most of its samples, 0 where none is known. */
static int source_of(struct page *page, const struct frame_tree_node *node, uint32_t *ret)
{
	struct page_source source = {0};
	struct frame_text frame = {.file = ""};
	uint64_t hash;

	if (node->location != FRAME_TREE_NONE)
		frame_text_get(page->view, node->location, node->frame, &frame);
	source.line = *frame.file ? frame.line : 0;
	if (add_string(page, frame.file, &source.file))
		return -ENOMEM;
	hash = hash_bytes(&source, sizeof(source), 0);
	*ret = index_map_find(&page->source_index, hash, source_equal, page->sources.data, &source);
	if (*ret != INDEX_MAP_NONE)
		return 0;
	*ret = (uint32_t)page->sources.size;
	if (vec_push(&page->sources, source))
		return -ENOMEM;
	return index_map_insert(&page->source_index, hash, *ret);
}

/* Siblings by name, module and kind, backwards: the last is taken first. */
static int compare_siblings(const void *a, const void *b, void *context)
{
	const struct page *page = context;
	const struct frame_tree_node *nodes = page->tree.nodes.data;
	const struct page_label *la = &page->labels.data[nodes[*(const uint32_t *)a].label];
	const struct page_label *lb = &page->labels.data[nodes[*(const uint32_t *)b].label];
	int order = strcmp(string_pool_get(page->strings, lb->name),
			   string_pool_get(page->strings, la->name));

	if (!order)
		order = strcmp(string_pool_get(page->strings, lb->module),
			       string_pool_get(page->strings, la->module));
	return order ? order : (int)lb->kind - (int)la->kind;
}

/*
 * Fill order and depths: each node, then its children with all below them.
 * order is that of names, so that it does not depend on what was sampled first.
 */
static int put_in_order(struct page *page)
{
	const struct frame_tree_node *nodes = page->tree.nodes.data;
	AUTO_FREE uint32_t *waiting = calloc(page->tree.nodes.size, sizeof(*waiting));
	AUTO_FREE uint32_t *depths = calloc(page->tree.nodes.size, sizeof(*depths));
	size_t size = 0;

	if (!waiting || !depths)
		return -ENOMEM;
	waiting[size++] = 0;
	while (size) {
		uint32_t number = waiting[--size];
		size_t first = size;

		if (vec_push(&page->order, number) || vec_push(&page->depths, depths[number]))
			return -ENOMEM;
		for (uint32_t i = nodes[number].first_child; i != FRAME_TREE_NONE;
		     i = nodes[i].next_sibling) {
			depths[i] = depths[number] + 1;
			waiting[size++] = i;
		}
		qsort_r(waiting + first, size - first, sizeof(*waiting), compare_siblings, page);
	}
	return 0;
}

static int page_make(struct page *page)
{
	const struct frame_labels labels = {label_frame, label_process, page};
	uint32_t number;
	int err = string_pool_create(&page->strings);

	if (!err)
		err = add_label(page, "all", "", PAGE_PROCESS, &number); /* node 0's */
	if (!err)
		err = vec_push(&page->sources, (struct page_source){0});
	if (!err)
		err = index_map_insert(
			&page->source_index,
			hash_bytes(page->sources.data, sizeof(*page->sources.data), 0), 0);
	if (!err)
		err = frame_tree_build(&page->tree, page->view, &labels);
	if (!err)
		err = put_in_order(page);
	for (size_t i = 0; !err && i < page->order.size; i++) {
		err = source_of(page, &page->tree.nodes.data[page->order.data[i]], &number);
		if (!err)
			err = vec_push(&page->node_sources, number);
	}
	return err;
}

/* One array of numbers: `expression` for each `item` of a vec. */
#define WRITE_COLUMN(json, key, vec, item, expression)                                             \
	do {                                                                                       \
		json_key(json, key);                                                               \
		json_begin(json, '[');                                                             \
		vec_for_each (item, vec)                                                           \
			json_number(json, expression);                                             \
		json_end(json, ']');                                                               \
	} while (0)

static void write_tables(struct json *json, const struct page *page)
{
	json_key(json, "strings");
	json_begin(json, '[');
	for (uint32_t i = 0; i < page->string_count; i++)
		json_string(json, string_pool_get(page->strings, i));
	json_end(json, ']');

	json_key(json, "labels");
	json_begin(json, '{');
	WRITE_COLUMN(json, "name", &page->labels, label, label->name);
	WRITE_COLUMN(json, "module", &page->labels, label, label->module);
	WRITE_COLUMN(json, "kind", &page->labels, label, label->kind);
	json_end(json, '}');

	json_key(json, "sources");
	json_begin(json, '{');
	WRITE_COLUMN(json, "file", &page->sources, source, source->file);
	WRITE_COLUMN(json, "line", &page->sources, source, source->line);
	json_end(json, '}');
}

static void write_nodes(struct json *json, const struct page *page)
{
	const struct frame_tree_node *nodes = page->tree.nodes.data;

	json_key(json, "nodes");
	json_begin(json, '{');
	WRITE_COLUMN(json, "depth", &page->depths, depth, *depth);
	WRITE_COLUMN(json, "label", &page->order, number, nodes[*number].label);
	WRITE_COLUMN(json, "self", &page->order, number, nodes[*number].self);
	WRITE_COLUMN(json, "source", &page->node_sources, source, *source);
	json_end(json, '}');
}

static int html_finish(struct sink *sink, const struct view *view)
{
	CLEANUP(page_deinit) struct page page = {.view = view};
	FILE *out = out_stream(sink);
	struct json json = json_of(out, false);
	const char *mark = strstr(jitbpf_page, DATA_MARK);
	int err = mark ? page_make(&page) : -EINVAL;

	if (err)
		return err;
	fwrite(jitbpf_page, 1, (size_t)(mark - jitbpf_page), out);
	json_begin(&json, '{');
	json_key(&json, "summary");
	err = summary_json_write(&json, view);
	if (err)
		return err;
	write_tables(&json, &page);
	write_nodes(&json, &page);
	json_end(&json, '}');
	fputs(mark + strlen(DATA_MARK), out);
	return out_flush(out);
}

const struct sink_ops sink_html = {
	.name = "html",
	.extension = ".html",
	.create = out_create,
	.finish = html_finish,
	.destroy = out_destroy,
};
