/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/format/page_data.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "base/sort_keys.h"
#include "sink/write/out.h"
#include "sink/format/page_column.h"
#include "sink/format/summary_json.h"
#include "sink/engine_advice.h"
#include "sink/file_packages.h"
#include "sink/frame_text.h"
#include "sink/ledger_rows.h"

/* Built from user/sink/page/; relative to the repository's root, where the compiler runs. */
__asm__(".section .rodata, \"a\", @progbits\n"
	"jitbpf_page: .incbin \"user/sink/page/flamegraph.html\"\n"
	".byte 0\n"
	".previous\n");

extern const char jitbpf_page[] __attribute__((visibility("hidden")));

/* Each occurs once in the page, in this order. */
#define CONNECT_MARK "@CONNECT@" /* what its policy lets the page connect to */
#define DATA_MARK    "@PROFILE@" /* its data */

int page_data_init(struct page_data *page)
{
	uint32_t number;

	*page = (struct page_data){
		.labels.row_bytes = sizeof(struct page_label),
		.sources.row_bytes = sizeof(struct page_source),
	};
	if (string_pool_create(&page->strings))
		return -ENOMEM;
	page->string_count = 1; /* the empty string */
	if (page_data_label(page, "all", "", PAGE_PROCESS, &number))
		return -ENOMEM;
	return page_data_source(page, "", 0, &number);
}

void page_data_deinit(struct page_data *page)
{
	string_pool_destroy(page->strings);
	row_table_deinit(&page->labels);
	row_table_deinit(&page->sources);
	vec_deinit(&page->nodes);
	vec_deinit(&page->counts);
	vec_deinit(&page->threads);
	time_slices_deinit(&page->slices);
	page_lives_deinit(&page->lives);
}

int page_data_string(struct page_data *page, const char *s, uint32_t *ret)
{
	int err = string_pool_add(page->strings, s, strlen(s), ret);

	if (!err && *ret >= page->string_count)
		page->string_count = *ret + 1;
	return err;
}

int page_data_label(struct page_data *page, const char *name, const char *module, uint32_t kind,
		    uint32_t *ret)
{
	struct page_label label = {.kind = kind};

	if (page_data_string(page, name, &label.name) ||
	    page_data_string(page, module, &label.module))
		return -ENOMEM;
	return row_table_add(&page->labels, &label, ret);
}

int page_data_source(struct page_data *page, const char *file, uint32_t line, uint32_t *ret)
{
	struct page_source source = {.line = *file ? line : 0};

	if (page_data_string(page, file, &source.file))
		return -ENOMEM;
	return row_table_add(&page->sources, &source, ret);
}

int page_data_thread(struct page_data *page, uint32_t pid, uint32_t tid, const char *comm,
		     const char *container)
{
	struct page_thread thread = {.pid = pid, .tid = tid};

	if (page_data_string(page, comm, &thread.comm) ||
	    page_data_string(page, container, &thread.container))
		return -ENOMEM;
	return vec_push(&page->threads, thread);
}

uint32_t page_data_kind(enum frame_kind kind, bool inlined)
{
	static const uint32_t kinds[] = {
		[FRAME_KIND_UNKNOWN] = PAGE_UNKNOWN,	     [FRAME_KIND_KERNEL] = PAGE_KERNEL,
		[FRAME_KIND_NATIVE] = PAGE_NATIVE,	     [FRAME_KIND_JIT] = PAGE_JIT,
		[FRAME_KIND_INTERPRETED] = PAGE_INTERPRETED,
	};

	return ((size_t)kind < ARRAY_SIZE(kinds) ? kinds[kind] : PAGE_UNKNOWN) |
	       (inlined ? PAGE_INLINED : 0);
}

/* State of writing the page. */
struct writer {
	const struct page_data *page;
	const struct view *const *views;
	uint32_t view_count;
	struct json *json;
	struct page_column column;
	uint32_t *ranks;  /* by label: position in the order of names */
	uint32_t *order;  /* nodes in the order of the page: parents before children */
	uint32_t *depths; /* by node */
	uint32_t *places; /* by node: position in `order` */
	uint32_t *rows;	  /* by count: its row */
};

static void writer_deinit(struct writer *w)
{
	page_column_deinit(&w->column);
	free(w->ranks);
	free(w->order);
	free(w->depths);
	free(w->places);
	free(w->rows);
}

static const struct page_label *label_at(const struct page_data *page, uint32_t number)
{
	return row_table_get(&page->labels, number);
}

/* By name, module and kind. No two labels are equal. */
static int compare_labels(const void *a, const void *b, void *context)
{
	const struct page_data *page = context;
	const struct page_label *la = label_at(page, *(const uint32_t *)a);
	const struct page_label *lb = label_at(page, *(const uint32_t *)b);
	int order = strcmp(string_pool_get(page->strings, la->name),
			   string_pool_get(page->strings, lb->name));

	if (!order)
		order = strcmp(string_pool_get(page->strings, la->module),
			       string_pool_get(page->strings, lb->module));
	return order ? order : (int)la->kind - (int)lb->kind;
}

static int rank_labels(struct writer *w)
{
	uint32_t count = w->page->labels.count;
	AUTO_FREE uint32_t *sorted = calloc(count, sizeof(*sorted));

	w->ranks = calloc(count, sizeof(*w->ranks));
	if (!sorted || !w->ranks)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = i;
	qsort_r(sorted, count, sizeof(*sorted), compare_labels, (void *)w->page);
	for (uint32_t i = 0; i < count; i++)
		w->ranks[sorted[i]] = i;
	return 0;
}

/* Sort nodes by parent, and siblings by name. */
static int sort_siblings(const struct writer *w, struct sort_key *keys)
{
	const struct page_node *nodes = w->page->nodes.data;

	for (uint32_t i = 0; i < w->page->nodes.size; i++)
		keys[i] = (struct sort_key){
			.key = (uint64_t)(nodes[i].parent + 1) << 32 | w->ranks[nodes[i].label],
			.item = i,
		};
	return sort_keys(keys, w->page->nodes.size);
}

/* Fill order, depths and places, in depth-first order. */
static int put_in_order(struct writer *w)
{
	const struct page_node *nodes = w->page->nodes.data;
	size_t count = w->page->nodes.size, size = 0;
	AUTO_FREE struct sort_key *keys = calloc(count + 1, sizeof(*keys));
	AUTO_FREE uint32_t *ends =
		calloc(count + 1, sizeof(*ends)); /* by parent: end of its children in keys */
	AUTO_FREE uint32_t *waiting = calloc(count + 1, sizeof(*waiting));

	w->order = calloc(count + 1, sizeof(*w->order));
	w->depths = calloc(count + 1, sizeof(*w->depths));
	w->places = calloc(count + 1, sizeof(*w->places));
	if (!keys || !ends || !waiting || !w->order || !w->depths || !w->places)
		return -ENOMEM;
	if (sort_siblings(w, keys))
		return -ENOMEM;
	for (uint32_t i = 1; i < count; i++)
		ends[nodes[keys[i].item].parent] = i + 1;
	for (uint32_t i = 1; i < count; i++)
		w->depths[i] = w->depths[nodes[i].parent] + 1;
	if (count)
		waiting[size++] = 0;
	for (uint32_t place = 0; size; place++) {
		uint32_t node = waiting[--size];

		w->order[place] = node;
		w->places[node] = place;
		/* In reverse order: the last one is taken first. */
		for (uint32_t i = ends[node]; i > 1 && nodes[keys[i - 1].item].parent == node; i--)
			waiting[size++] = keys[i - 1].item;
	}
	return 0;
}

/* Write a column: `expression` for i in [0, count). */
#define WRITE_COLUMN(w, key, count, expression)                                                    \
	({                                                                                         \
		for (uint32_t i = 0; i < (count); i++)                                             \
			page_column_put(&(w)->column, (expression));                               \
		page_column_write(&(w)->column, (w)->json, key);                                   \
	})

static void begin_table(struct writer *w, const char *key, uint64_t rows)
{
	json_key(w->json, key);
	json_begin(w->json, '{');
	json_member_number(w->json, "rows", rows);
}

static int write_labels(struct writer *w)
{
	const struct page_label *labels = row_table_get(&w->page->labels, 0);
	uint32_t count = w->page->labels.count;
	int err;

	begin_table(w, "labels", count);
	err = WRITE_COLUMN(w, "name", count, labels[i].name) ?:
	      WRITE_COLUMN(w, "module", count, labels[i].module) ?:
	      WRITE_COLUMN(w, "kind", count, labels[i].kind);
	json_end(w->json, '}');
	return err;
}

static int write_sources(struct writer *w)
{
	const struct page_source *sources = row_table_get(&w->page->sources, 0);
	uint32_t count = w->page->sources.count;
	int err;

	begin_table(w, "sources", count);
	err = WRITE_COLUMN(w, "file", count, sources[i].file)
		      ?: WRITE_COLUMN(w, "line", count, sources[i].line);
	json_end(w->json, '}');
	return err;
}

static int write_threads(struct writer *w)
{
	const struct page_thread *threads = w->page->threads.data;
	size_t count = w->page->threads.size;
	int err;

	begin_table(w, "threads", count);
	err = WRITE_COLUMN(w, "pid", count, threads[i].pid) ?:
	      WRITE_COLUMN(w, "tid", count, threads[i].tid) ?:
	      WRITE_COLUMN(w, "comm", count, threads[i].comm) ?:
	      WRITE_COLUMN(w, "container", count, threads[i].container);
	json_end(w->json, '}');
	return err;
}

/* "up" is the number of levels from the previous node up to this node's parent, usually 0. */
static int write_nodes(struct writer *w)
{
	const struct page_node *nodes = w->page->nodes.data;
	size_t count = w->page->nodes.size;
	const uint32_t *order = w->order, *depths = w->depths;
	int err;

	begin_table(w, "nodes", count);
	err = WRITE_COLUMN(w, "up", count, i ? depths[order[i - 1]] + 1 - depths[order[i]] : 0) ?:
	      WRITE_COLUMN(w, "label", count, nodes[order[i]].label) ?:
	      WRITE_COLUMN(w, "source", count, nodes[order[i]].source);
	json_end(w->json, '}');
	return err;
}

/* Nodes are written as differences to the previous one. */
static int write_counts(struct writer *w)
{
	const struct page_count *counts = w->page->counts.data;
	size_t count = w->page->counts.size;
	AUTO_FREE struct sort_key *keys = calloc(count + 1, sizeof(*keys));
	int err;

	w->rows = calloc(count + 1, sizeof(*w->rows));
	if (!keys || !w->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){
			.key = (uint64_t)w->places[counts[i].node] << 32 | counts[i].group,
			.item = i,
		};
	if (sort_keys(keys, count))
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		w->rows[keys[i].item] = i;
	begin_table(w, "counts", count);
	err = WRITE_COLUMN(w, "step", count,
			   (keys[i].key >> 32) - (i ? keys[i - 1].key >> 32 : 0)) ?:
	      WRITE_COLUMN(w, "group", count, (uint32_t)keys[i].key) ?:
	      WRITE_COLUMN(w, "samples", count, counts[keys[i].item].samples);
	json_end(w->json, '}');
	return err;
}

/* The slices with the rows of their counts, in order. */
static int sort_slices(const struct writer *w, struct time_slices *ret)
{
	const struct time_slices *slices = &w->page->slices;

	if (vec_reserve(&ret->slices, slices->slices.size))
		return -ENOMEM;
	memcpy(ret->ends, slices->ends, sizeof(ret->ends));
	vec_for_each (slice, &slices->slices) {
		struct time_slice *out = &ret->slices.data[ret->slices.size++];

		*out = *slice;
		out->count = w->rows[slice->count];
	}
	return time_slices_sort(ret);
}

/* Each tick that has slices: its distance from the one before, and the number of its slices. */
static int write_ticks(struct writer *w, const struct time_slice *slices, size_t count)
{
	struct page_column sizes = {0};
	uint64_t rows = 0;
	uint32_t last = 0;
	int err;

	for (size_t i = 0, begin = 0; i < count; i++) {
		if (i + 1 < count && slices[i + 1].tick == slices[i].tick)
			continue;
		page_column_put(&w->column, slices[i].tick - last);
		page_column_put(&sizes, i + 1 - begin);
		last = slices[i].tick;
		begin = i + 1;
		rows++;
	}
	begin_table(w, "ticks", rows);
	json_member_number(w->json, "ns", TIME_SLICES_TICK_NS);
	err = page_column_write(&w->column, w->json, "step")
		      ?: page_column_write(&sizes, w->json, "slices");
	json_end(w->json, '}');
	page_column_deinit(&sizes);
	return err;
}

/* Slices with more than one sample: the distance from the one before, and the further samples. */
static int write_several(struct writer *w, const struct time_slice *slices, size_t count)
{
	struct page_column samples = {0};
	uint64_t rows = 0;
	size_t last = 0;
	int err;

	for (size_t i = 0; i < count; i++) {
		if (slices[i].samples == 1)
			continue;
		page_column_put(&w->column, i - last);
		page_column_put(&samples, slices[i].samples - 1);
		last = i;
		rows++;
	}
	begin_table(w, "several", rows);
	err = page_column_write(&w->column, w->json, "step")
		      ?: page_column_write(&samples, w->json, "more");
	json_end(w->json, '}');
	page_column_deinit(&samples);
	return err;
}

/* The count of a slice is its distance from that of the slice before it in its tick, or from 0. */
static int write_slices(struct writer *w)
{
	CLEANUP(time_slices_deinit) struct time_slices sorted = {0};
	const struct time_slice *s;
	size_t count;
	int err = sort_slices(w, &sorted);

	if (err)
		return err;
	s = sorted.slices.data;
	count = sorted.slices.size;
	err = write_ticks(w, s, count);
	begin_table(w, "slices", count);
	err = err
		      ?: WRITE_COLUMN(w, "step", count,
				      s[i].count - (i && s[i - 1].tick == s[i].tick ? s[i - 1].count
										    : 0));
	json_end(w->json, '}');
	err = err ?: write_several(w, s, count);
	begin_table(w, "levels", TIME_SLICES_LEVELS);
	err = err ?: WRITE_COLUMN(w, "end", TIME_SLICES_LEVELS, sorted.ends[i]);
	json_end(w->json, '}');
	return err;
}

static void write_engines(struct writer *w, const struct code_lane *lane)
{
	json_key(w->json, "engines");
	json_begin(w->json, '[');
	for (uint32_t i = 0; i < lane->engine_count; i++)
		json_string(w->json, i < CODE_LANE_ENGINES - 1
					     ? frame_text_comm(w->views[0], lane->engines[i])
					     : "others");
	json_end(w->json, ']');
}

/* Bins in which JIT code was loaded or ended, and the live bytes of each engine after each. */
static int write_code(struct writer *w, const struct code_lane *lane)
{
	struct page_column loads = {0}, unloads = {0}, live = {0};
	uint32_t rows = 0, last = 0;
	int err;

	for (uint32_t i = 0; lane && i < CODE_LANE_BINS; i++) {
		const struct code_bin *bin = &lane->bins[i];

		if (!bin->version)
			continue;
		page_column_put(&w->column, i - last);
		page_column_put(&loads, bin->loads);
		page_column_put(&unloads, bin->unloads);
		for (uint32_t k = 0; k < lane->engine_count; k++)
			page_column_put(&live, bin->live[k]);
		last = i;
		rows++;
	}
	begin_table(w, "code", rows);
	if (rows) {
		json_member_number(w->json, "ticks", 1ull << lane->shift);
		write_engines(w, lane);
	}
	err = page_column_write(&w->column, w->json, "step") ?:
	      page_column_write(&loads, w->json, "loads") ?:
	      page_column_write(&unloads, w->json, "unloads");
	json_end(w->json, '}');
	begin_table(w, "code_live", lane ? (uint64_t)rows * lane->engine_count : 0);
	err = err ?: page_column_write(&live, w->json, "bytes");
	json_end(w->json, '}');
	page_column_deinit(&loads);
	page_column_deinit(&unloads);
	page_column_deinit(&live);
	return err;
}

/* Write what a term means, why it happens and what to do, as one text. */
static void write_about(struct json *json, const struct ledger_word *term)
{
	char about[600];

	snprintf(about, sizeof(about), "%s%s%s%s%s", term->means, term->why ? " Why: " : "",
		 term->why ?: "", term->next ? " Next: " : "", term->next ?: "");
	json_member_string(json, term->key, about);
}

static void write_word(struct json *json, const struct ledger_word *term)
{
	json_member_string(json, term->key, term->words);
}

static void write_word_table(struct json *json, const char *key, const struct ledger_word *words,
			     int count,
			     void (*write)(struct json *json, const struct ledger_word *term))
{
	json_key(json, key);
	json_begin(json, '{');
	for (int i = 0; i < count; i++)
		write(json, &words[i]);
	json_end(json, '}');
}

static void write_word_tables(struct json *json,
			      void (*write)(struct json *json, const struct ledger_word *term))
{
	write_word_table(json, "fates", ledger_fates, FATE_COUNT, write);
	write_word_table(json, "cuts", ledger_cuts, LEDGER_CUT_COUNT, write);
	write_word_table(json, "counters", ledger_counters, JITBPF_COUNTER_MAX, write);
	write_word_table(json, "singles", ledger_singles, LEDGER_SINGLE_COUNT, write);
	json_key(json, "jit");
	json_begin(json, '{');
	for (int i = 0; i < LEDGER_JIT_COUNT; i++)
		write(json, &ledger_jit[i].word);
	json_end(json, '}');
}

void page_data_write_words(struct json *json)
{
	json_key(json, "words");
	json_begin(json, '{');
	write_word_tables(json, write_word);
	json_key(json, "about");
	json_begin(json, '{');
	write_word_tables(json, write_about);
	json_end(json, '}');
	json_member_string(json, "symbols", FILE_PACKAGES_ADVICE);
	engine_advice_write(json);
	json_end(json, '}');
}

static int write_data(void *writer, struct json *json)
{
	struct writer *w = writer;
	const struct view *const *views = w->views;
	int err = 0;

	w->json = json;
	json_begin(json, '{');
	json_key(json, "runs");
	json_begin(json, '[');
	for (uint32_t i = 0; !err && i < w->view_count; i++)
		err = summary_json_write(json, views[i]);
	json_end(json, ']');
	page_data_write_words(json);
	json_key(json, "strings");
	json_begin(json, '[');
	for (uint32_t i = 0; i < w->page->string_count; i++)
		json_string(json, string_pool_get(w->page->strings, i));
	json_end(json, ']');
	err = err ?: write_labels(w) ?: write_sources(w) ?: write_threads(w);
	err = err ?: write_nodes(w) ?: write_counts(w) ?: write_slices(w);
	err = err ?: write_code(w, w->view_count == 1 ? views[0]->lane : NULL);
	err = err ?: page_lives_write(&w->page->lives, json);
	if (!err && w->view_count == 1 && views[0]->extra)
		err = views[0]->extra->write(views[0]->extra->context, views[0], json);
	json_end(json, '}');
	return err;
}

int page_data_write(const struct page_data *page, FILE *out, const struct view *const views[],
		    uint32_t view_count)
{
	CLEANUP(writer_deinit)
	struct writer w = {.page = page, .views = views, .view_count = view_count};
	int err = rank_labels(&w);

	err = err ?: put_in_order(&w);
	return err ?: page_data_embed(out, PAGE_CONNECTS_NOWHERE, write_data, &w);
}

/* Write the page up to a mark. Returns what is behind it, or NULL. */
static const char *write_until(FILE *out, const char *page, const char *mark)
{
	const char *end = strstr(page, mark);

	if (end)
		fwrite(page, 1, (size_t)(end - page), out);
	return end ? end + strlen(mark) : NULL;
}

int page_data_embed(FILE *out, enum page_connects connects,
		    int (*write)(void *context, struct json *json), void *context)
{
	struct json json = json_of(out, false);
	const char *rest = write_until(out, jitbpf_page, CONNECT_MARK);
	int err;

	fputs(connects == PAGE_CONNECTS_TO_SERVER ? "'self'" : "'none'", out);
	rest = rest ? write_until(out, rest, DATA_MARK) : NULL;
	if (!rest)
		return -EINVAL;
	err = write(context, &json);
	if (err)
		return err;
	fputs(rest, out);
	return out_flush(out);
}
